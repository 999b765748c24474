using System.Globalization;
using System.Text;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Store;

namespace Cairn.Benchmarks.Map;

/// <summary>What encryption costs: the same operations on a store with it and on one without.</summary>
internal static class EncryptedCases
{
    private const int ValueBytes = 100;
    private const int Passes = 5;
    private const long CapacityBytes = 128L << 20;

    public static void Measure(AreaRun run, MapScale scale)
    {
        var suffix = string.Create(CultureInfo.InvariantCulture, $", {ValueBytes} B values, {scale.Size}");
        run.Measure($"encryption{suffix}", scale.Rounds, group =>
        {
            var plain = group.Own(Create(run.Settings.Folder, "plain", null));
            var encrypted = group.Own(Create(run.Settings.Folder, "encrypted", StoreEncryption.FromKey(new byte[StoreEncryption.KeyBytes])));
            var keys = Shuffled(scale.Entries);
            var encryptedSet = group.Enter(new SetInOrder(CairnSubject.Name, encrypted, keys));
            var set = group.Enter(new SetInOrder("without encryption", plain, keys));
            var encryptedGet = group.Enter(new GetInOrder(CairnSubject.Name, encrypted, keys));
            var get = group.Enter(new GetInOrder("without encryption", plain, keys));
            group.Compare($"get, encryption on{suffix}", encryptedGet, get, Goal.AtMost(2.5));
            group.Compare($"set, encryption on{suffix}", encryptedSet, set, Goal.AtMost(2.5));
            group.ExpectNoAllocation($"get, encryption on{suffix}", encryptedGet);
            group.ExpectNoAllocation($"set, encryption on{suffix}", encryptedSet);
        });
    }

    private static CairnStore Create(string folder, string name, StoreEncryption? encryption)
    {
        var path = Path.Combine(folder, name + ".cairn");
        File.Delete(path);
        return CairnStore.Open(new StoreOptions { Path = path, CapacityBytes = CapacityBytes, Encryption = encryption, FlushOnClose = false });
    }

    private static byte[][] Shuffled(int entries)
    {
        byte[][] keys = [.. Enumerable.Range(0, entries).Select(i => Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"customer:{i:D11}")))];
        new Random(1).Shuffle(keys);
        return keys;
    }

    /// <summary>Sets one key after the other.</summary>
    private sealed class SetInOrder(string name, CairnStore store, byte[][] keys) : OperationContender(name, keys.Length, Passes)
    {
        private readonly byte[] _value = new byte[ValueBytes];

        protected override void Run(int first, int count)
        {
            for (var i = first; i < first + count; i++)
            {
                store.Set(keys[i], _value);
            }
        }
    }

    /// <summary>Gets one key after the other.</summary>
    private sealed class GetInOrder(string name, CairnStore store, byte[][] keys) : OperationContender(name, keys.Length, Passes)
    {
        private readonly byte[] _destination = new byte[ValueBytes];

        protected override void Run(int first, int count)
        {
            for (var i = first; i < first + count; i++)
            {
                if (!store.TryGet(keys[i], _destination, out int _))
                {
                    Misses++;
                }
            }
        }
    }
}
