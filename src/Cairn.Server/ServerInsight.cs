using System.Buffers;
using System.Diagnostics.Metrics;
using Cairn.Server.Connections;
using Cairn.Server.Hosting;
using Cairn.Server.Metrics;

namespace Cairn.Server;

/// <summary>What can be seen of a server from outside, from its start to its end: health and figures. Changes nothing.</summary>
/// <remarks>Safe from any thread.</remarks>
public sealed class ServerInsight
{
    /// <summary>The name of the meter that <see cref="CreateMeter"/> makes.</summary>
    public const string MeterName = "Cairn.Server";

    /// <summary>The content type of what <see cref="WriteMetrics"/> writes.</summary>
    public const string MetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

    private readonly ServerLog _log;
    private readonly TimeProvider _clock;
    private volatile MetricSource? _source;
    private volatile bool _isStopping;
    private readonly DamageWatch _damage = new();

    internal ServerInsight(ServerLog log, TimeProvider clock)
    {
        _log = log;
        _clock = clock;
    }

    /// <summary>The version of the server.</summary>
    public static string Version => ProcessFigures.Version;

    /// <summary>Whether clients should be sent to the server now: not while it starts or stops, nor while its store turns out to be
    /// damaged.</summary>
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
            return _damage.Look(source.Store.GetStatistics().DamagedEntries, _clock.GetTimestampMs());
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

    /// <summary>Writes every figure in Prometheus' text format; nothing before the server has started. docs/reference/metrics.md tells what they
    /// mean.</summary>
    /// <param name="target">Where to write.</param>
    public void WriteMetrics(IBufferWriter<byte> target)
    {
        ArgumentNullException.ThrowIfNull(target);
        if (TakeSnapshot() is { } snapshot)
        {
            PrometheusText.Write(target, snapshot);
        }
    }

    /// <summary>Makes a meter with every figure, for exporters to listen to. Dispose of it to end that.</summary>
    public Meter CreateMeter() => MeterFigures.Create(TakeSnapshot, _clock);

    /// <summary>Says something in the server's log.</summary>
    /// <param name="level">How grave it is.</param>
    /// <param name="message">In one line.</param>
    public void Log(ServerLogLevel level, string message) => _log.Write(level, message);

    /// <summary>Where the figures come from; null before the server has started.</summary>
    internal MetricSource? Source => _source;

    /// <summary>Who may see what; null before the server has started.</summary>
    internal ServerAccess? Access { get; private set; }

    /// <summary>Whether the server is about to end.</summary>
    internal bool IsStopping => _isStopping;

    internal TimeProvider Clock => _clock;

    internal void OnStarted(MetricSource source, ServerAccess access)
    {
        Access = access;
        _source = source; // Last: whoever sees it sees the access, too.
    }

    internal void OnStopping() => _isStopping = true;

    // Null while there is nothing to tell.
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
