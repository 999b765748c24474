using Cairn.Server.Connections;
using Cairn.Server.Memcached;
using Cairn.Server.Metrics;

namespace Cairn.Server.Exposition;

/// <summary>The source of a server's metrics.</summary>
internal sealed record MetricSource(
    CairnStore Store, ServerEngine Engine, ServerMetrics Requests, MemcachedSessions Memcached, IReadOnlyList<MeteredCommand> Commands);

/// <summary>A snapshot of all metrics of a server. The values need not be consistent with each other, except those of the
/// store.</summary>
internal sealed class ServerSnapshot
{
    private ServerSnapshot(MetricSource source, ServerHealth health)
    {
        Source = source;
        Health = health;
        Store = source.Store.GetStatistics();
        Memcached = source.Memcached.TotalSinceStart();
        Recorders = [.. source.Requests.Recorders];
        Process = ProcessFigures.Take();
    }

    public MetricSource Source { get; }

    public ServerHealth Health { get; }

    public ServerEngine Engine => Source.Engine;

    public StoreStatistics Store { get; }

    public MemcachedCounters Memcached { get; }

    public RequestRecorder[] Recorders { get; }

    public ProcessFigures Process { get; }

    public IReadOnlyList<MeteredCommand> Commands => Source.Commands;

    public static ServerSnapshot Take(MetricSource source, ServerHealth health) => new(source, health);

    /// <summary>Returns the sum of a number over all workers.</summary>
    public long Total(Func<RequestRecorder, long> of)
    {
        long total = 0;
        foreach (RequestRecorder recorder in Recorders)
        {
            total += of(recorder);
        }

        return total;
    }

    /// <summary>Returns the commands of each protocol and family that had requests.</summary>
    public IEnumerable<(string Protocol, CommandFamily Family, int[] Commands)> UsedFamilies() =>
        Commands
            .Where(command => Total(recorder => recorder.Requests(command.Id)) > 0)
            .GroupBy(command => (command.Protocol, command.Family))
            .Select(family => (family.Key.Protocol, family.Key.Family, family.Select(command => command.Id).ToArray()));
}
