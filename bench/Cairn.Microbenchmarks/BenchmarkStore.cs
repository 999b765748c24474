using System.Globalization;
using System.Text;

namespace Cairn.Microbenchmarks;

/// <summary>A store in a file of its own. <see cref="Dispose"/> deletes the file.</summary>
internal sealed class BenchmarkStore : IDisposable
{
    private BenchmarkStore(CairnStore store) => Store = store;

    public CairnStore Store { get; }

    public CairnCollection Cache => Store.DefaultCollection;

    /// <summary>Creates a store of 64 MiB without entries.</summary>
    public static BenchmarkStore Create()
    {
        var name = string.Create(CultureInfo.InvariantCulture, $"cairn-microbenchmark-{Environment.ProcessId}.cairn");
        var path = Path.Combine(Path.GetTempPath(), name);
        File.Delete(path);
        return new BenchmarkStore(
            CairnStore.Open(new StoreOptions { Path = path, CapacityBytes = 64L << 20, FlushOnClose = false }));
    }

    /// <summary>Creates a store that holds one entry.</summary>
    public static BenchmarkStore CreateWith(ReadOnlySpan<byte> key, int valueBytes)
    {
        var created = Create();
        created.Cache.Set(key, new byte[valueBytes]);
        return created;
    }

    /// <summary>Returns different keys of 20 bytes.</summary>
    public static byte[][] Keys(int count) =>
        [.. Enumerable.Range(0, count).Select(i => Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"book:{i:D15}")))];

    public void Dispose()
    {
        var path = Store.Path;
        Store.Dispose();
        File.Delete(path);
    }
}
