using Bookshop.Reading;
using Cairn.Caching;

namespace Bookshop.Operation;

/// <summary>What this process did since it started. GET /statistics shows it.</summary>
/// <param name="AllocatedBytes">Managed memory that was ever allocated.</param>
/// <param name="Collections">Garbage collections.</param>
/// <param name="CpuSeconds">Processor time.</param>
/// <param name="Cache">The hybrid cache's own counts; null on read paths without one.</param>
internal sealed record BookshopStatistics(string ReadPath, long AllocatedBytes, int Collections, double CpuSeconds, CairnCacheStatistics? Cache)
{
    public static BookshopStatistics Now(ReadPath path, CairnHybridCache? cache) => new(
        ReadPaths.NameOf(path),
        GC.GetTotalAllocatedBytes(precise: true),
        GC.CollectionCount(0),
        Environment.CpuUsage.TotalTime.TotalSeconds,
        cache?.GetStatistics());
}
