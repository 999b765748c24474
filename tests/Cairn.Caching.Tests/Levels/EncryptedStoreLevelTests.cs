namespace Cairn.Caching.Tests.Levels;

/// <summary>A level over an encrypted store behaves like any other.</summary>
public sealed class EncryptedStoreLevelTests : StoreLevelTests
{
    private static readonly StoreEncryption Key = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes));

    private protected override StoreOptions Options => base.Options with { Encryption = Key };
}

/// <summary>The leases of a level over an encrypted store behave like any others.</summary>
public sealed class EncryptedStoreLevelLeaseTests : StoreLevelLeaseTests
{
    private static readonly StoreEncryption Key = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes));

    private protected override StoreOptions Options => base.Options with { Encryption = Key };
}
