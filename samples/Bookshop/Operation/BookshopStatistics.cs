using Bookshop.Reading;
using Cairn.Caching;

namespace Bookshop.Operation;

/// <summary>The statistics of this process since it started. GET /statistics shows them.</summary>
/// <param name="AllocatedBytes">The bytes of managed memory that were allocated, including those that were collected.</param>
/// <param name="Collections">The number of garbage collections.</param>
/// <param name="CpuSeconds">The processor time in seconds.</param>
/// <param name="Cache">The statistics of the hybrid cache. Null on read paths without one.</param>
internal sealed record BookshopStatistics(string ReadPath, long AllocatedBytes, int Collections, double CpuSeconds, CairnCacheStatistics? Cache)
{
    public static BookshopStatistics Now(ReadPath path, CairnHybridCache? cache) => new(
        ReadPaths.NameOf(path),
        GC.GetTotalAllocatedBytes(precise: true),
        GC.CollectionCount(0),
        Environment.CpuUsage.TotalTime.TotalSeconds,
        cache?.GetStatistics());
}
