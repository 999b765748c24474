using System.Security.Cryptography;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Store;

/// <summary>Compares an encrypted store with one that is not encrypted. For reference, without a goal.</summary>
internal static class EncryptionCases
{
    public static void Measure(AreaRun run, StoreScale scale)
    {
        var suffix = CaseName.Suffix(Distribution.Uniform, scale);
        run.Measure($"encryption{suffix}", scale.Rounds, group =>
        {
            var requests = scale.Draw(Distribution.Uniform);
            var encryption = StoreEncryption.FromKey(RandomNumberGenerator.GetBytes(StoreEncryption.KeyBytes));
            var plain = group.Own(BenchmarkStore.CreateUsed(run.Settings.Folder, "plain", scale.Entries, StoreScale.ValueBytes));
            var encrypted = group.Own(
                BenchmarkStore.CreateUsed(run.Settings.Folder, "encrypted", scale.Entries, StoreScale.ValueBytes, encryption));
            var get = group.Enter(new CairnGetByBytes(encrypted.DefaultCollection, requests, StoreScale.ValueBytes));
            var set = group.Enter(new CairnSet(encrypted.DefaultCollection, requests, StoreScale.ValueBytes));
            group.Compare($"get, encrypted{suffix}", get, group.Enter(new CairnGetByBytes(plain.DefaultCollection, requests, StoreScale.ValueBytes)));
            group.Compare($"set, encrypted{suffix}", set, group.Enter(new CairnSet(plain.DefaultCollection, requests, StoreScale.ValueBytes)));
            group.ExpectNoAllocation($"get, encrypted{suffix}", get);
            group.ExpectNoAllocation($"set, encrypted{suffix}", set);
        });
    }
}
