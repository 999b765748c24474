using System.Security.Cryptography;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Store;

namespace Cairn.Benchmarks.Map;

/// <summary>What encryption adds to a get and to a set, at 100 bytes a value.</summary>
internal static class EncryptionCases
{
    private const string Subject = "Cairn, encrypted";

    // What is sealed with a value: its key and its length, a nonce and a tag. A bound, for the size of the file.
    private const int SealBytes = 64;

    public static void Measure(AreaRun run, MapScale scale)
    {
        run.Measure("encryption", scale.Rounds, group =>
        {
            var requests = new Requests(KeyNumbers.Draw(Distribution.Uniform, scale.Entries, scale.Entries, seed: 1));
            var plain = group.Own(Create(run, scale, "plain", encryption: null));
            var encrypted = group.Own(Create(
                run, scale, "encrypted", StoreEncryption.FromKey(RandomNumberGenerator.GetBytes(StoreEncryption.KeyBytes))));
            var get = group.Enter(new CairnGetByBytes(encrypted, requests, StoreScale.ValueBytes, Subject));
            var plainGet = group.Enter(new CairnGetByBytes(plain, requests, StoreScale.ValueBytes));
            var set = group.Enter(new CairnSet(encrypted, requests, StoreScale.ValueBytes, Subject));
            var plainSet = group.Enter(new CairnSet(plain, requests, StoreScale.ValueBytes));
            group.Compare($"get, 100 bytes, {scale.Size}", get, plainGet, Goal.AtMost(2.5));
            group.Compare($"set, 100 bytes, {scale.Size}", set, plainSet, Goal.AtMost(2.5));
            group.ExpectNoAllocation($"get, 100 bytes, {scale.Size}", get);
            group.ExpectNoAllocation($"set, 100 bytes, {scale.Size}", set);
        });
    }

    private static CairnStore Create(AreaRun run, MapScale scale, string name, StoreEncryption? encryption)
    {
        var valueBytes = StoreScale.ValueBytes + (encryption is null ? 0 : SealBytes);
        var store = BenchmarkStore.Create(
            run.Settings.Folder, name, BenchmarkStore.CapacityFor(scale.Entries, Requests.KeyBytes, valueBytes), Requests.KeyBytes, valueBytes, encryption);
        BenchmarkStore.Load(store, 0, scale.Entries, StoreScale.ValueBytes);
        return store;
    }
}
