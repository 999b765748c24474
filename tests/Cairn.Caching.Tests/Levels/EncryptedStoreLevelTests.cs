namespace Cairn.Caching.Tests.Levels;

/// <summary>What holds for a level holds for one over an encrypted store.</summary>
public sealed class EncryptedStoreLevelTests : StoreLevelTests
{
    private static readonly StoreEncryption Key = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes));

    private protected override StoreOptions Options => base.Options with { Encryption = Key };
}

/// <summary>What holds for a level's leases holds over an encrypted store.</summary>
public sealed class EncryptedStoreLevelLeaseTests : StoreLevelLeaseTests
{
    private static readonly StoreEncryption Key = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes));

    private protected override StoreOptions Options => base.Options with { Encryption = Key };
}
