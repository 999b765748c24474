using System.Diagnostics.Metrics;
using Cairn.Server.Exposition;
using Cairn.Server.Hosting;
using Cairn.Server.Logging;
using Cairn.Server.Timing;
using Microsoft.Extensions.Logging;

namespace Cairn.Server;

/// <summary>Health and metrics of a server, from its start to its end. Read-only.</summary>
/// <remarks>Thread-safe.</remarks>
public sealed class ServerInsight
{
    /// <summary>The name of the meter that <see cref="CreateMeter"/> creates.</summary>
    public const string MeterName = "Cairn.Server";

    /// <summary>The content type of the output of <see cref="WriteMetrics"/>.</summary>
    public const string MetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

    private readonly TimeProvider _clock;
    private volatile MetricSource? _source;
    private volatile bool _isStopping;
    private readonly DamageWatch _damage = new();

    internal ServerInsight(ILogger log, TimeProvider clock)
    {
        Logger = log;
        _clock = clock;
    }

    /// <summary>Gets the version of the server.</summary>
    public static string Version => ProcessFigures.Version;

    /// <summary>Returns whether clients should connect to the server now. A server is not ready while it starts or stops, or while it
    /// finds damaged entries in its store.</summary>
    public ServerHealth GetHealth()
    {
        if (_isStopping)
        {
            return new ServerHealth(false, "stopping");
        }

        if (_source is not { } source)
        {
            return new ServerHealth(false, "starting");
        }

        try
        {
            return _damage.Look(source.Store.GetStatistics().Totals.DamagedEntries, _clock.GetTimestampMs());
        }
        catch (StoreException e)
        {
            return new ServerHealth(false, e.Message);
        }
        catch (ObjectDisposedException)
        {
            return new ServerHealth(false, "stopping");
        }
    }

    /// <summary>Writes all metrics in Prometheus' text format. Writes nothing before the server has started. docs/reference/metrics.md
    /// describes them.</summary>
    /// <param name="target">The destination.</param>
    public void WriteMetrics(IBufferWriter<byte> target)
    {
        ArgumentNullException.ThrowIfNull(target);
        if (TakeSnapshot() is { } snapshot)
        {
            PrometheusText.Write(target, snapshot);
        }
    }

    /// <summary>Creates a meter with all metrics, for exporters. Dispose the meter to end the measurement.</summary>
    public Meter CreateMeter() => MeterFigures.Create(TakeSnapshot, _clock);

    /// <summary>Gets the server's log. Each message is one line.</summary>
    public ILogger Logger { get; }

    /// <summary>Gets the source of the metrics; null before the server has started.</summary>
    internal MetricSource? Source => _source;

    /// <summary>Gets the rules of access; null before the server has started.</summary>
    internal ServerAccess? Access { get; private set; }

    /// <summary>Gets whether the server is stopping.</summary>
    internal bool IsStopping => _isStopping;

    internal TimeProvider Clock => _clock;

    internal void OnStarted(MetricSource source, ServerAccess access)
    {
        Access = access;
        _source = source; // Last, volatile: a reader that sees the source also sees the access.
    }

    internal void OnStopping() => _isStopping = true;

    // Returns null before the start and after the end.
    private ServerSnapshot? TakeSnapshot()
    {
        if (_source is not { } source)
        {
            return null;
        }

        try
        {
            return ServerSnapshot.Take(source, GetHealth());
        }
        catch (ObjectDisposedException)
        {
            return null; // The store was closed.
        }
    }
}
