using Cairn.Server.Metrics;

namespace Cairn.Server.Resp;

/// <summary>The statistics of a server since its start or the last reset. Thread-safe.</summary>
internal sealed class RespStatistics(RespServer server)
{
    private static readonly TimeSpan s_shortestSample = TimeSpan.FromMilliseconds(100);

    private readonly Lock _lock = new();
    private Numbers _base = OfStore(server.Store);
    private Dictionary<int, CommandNumbers> _commandBases = [];
    private (TimeSpan At, Numbers Numbers)? _sample;
    private Rates _rates = new(0, 0, 0);

    /// <summary>Gets the statistics since the last reset.</summary>
    public Numbers Current
    {
        get
        {
            lock (_lock)
            {
                return Sum().Minus(_base);
            }
        }
    }

    /// <summary>Returns a command's statistics since the last reset.</summary>
    public CommandNumbers Of(CommandInfo command)
    {
        CommandNumbers total = Sum(command.Number);
        lock (_lock)
        {
            return _commandBases.TryGetValue(command.Number, out CommandNumbers? before) ? total.Minus(before) : total;
        }
    }

    /// <summary>Returns the average rates per second since the last call.</summary>
    public Rates TakeRates()
    {
        lock (_lock)
        {
            TimeSpan now = server.Uptime;
            (TimeSpan at, Numbers numbers) = _sample ?? (TimeSpan.Zero, default(Numbers));
            double seconds = (now - at).TotalSeconds;
            if (now - at >= s_shortestSample)
            {
                Numbers total = Sum();
                Numbers since = total.Minus(numbers);
                _rates = new Rates(
                    (long)Math.Round(since.Commands / seconds), since.BytesReceived / 1024.0 / seconds, since.BytesSent / 1024.0 / seconds);
                _sample = (now, total);
            }

            return _rates;
        }
    }

    /// <summary>Resets all counts to zero.</summary>
    public void Reset()
    {
        lock (_lock)
        {
            _base = Sum();
            _commandBases = server.Commands.Executable.ToDictionary(command => command.Number, command => Sum(command.Number));
        }
    }

    private Numbers Sum()
    {
        ServerMetrics metrics = server.Metrics;
        long hits = 0;
        long misses = 0;
        long errors = metrics.Total(recorder => recorder.Rejected(CommandTable.Unknown));
        foreach (CommandInfo command in server.Commands.Executable)
        {
            hits += metrics.Total(recorder => recorder.Hits(command.Number));
            misses += metrics.Total(recorder => recorder.Misses(command.Number));
            errors += metrics.Total(recorder => recorder.Errors(command.Number) + recorder.Rejected(command.Number));
        }

        Numbers ofStore = OfStore(server.Store);
        return new Numbers(
            server.CommandCount, server.ConnectionCount, server.Engine?.RefusedCount ?? 0, hits, misses, errors,
            metrics.Total(recorder => Volatile.Read(ref recorder.BytesReceived)), metrics.Total(recorder => Volatile.Read(ref recorder.BytesSent)),
            ofStore.Expired, ofStore.Evicted);
    }

    // The store counts from its creation; Redis counts from its start.
    private static Numbers OfStore(CairnStore store)
    {
        StoreStatistics statistics = store.GetStatistics();
        return default(Numbers) with { Expired = statistics.Totals.Expirations, Evicted = statistics.Totals.Evictions };
    }

    private CommandNumbers Sum(int command)
    {
        ServerMetrics metrics = server.Metrics;
        return new CommandNumbers(
            metrics.Total(recorder => recorder.Requests(command)), metrics.Total(recorder => recorder.Errors(command)),
            metrics.Total(recorder => recorder.Rejected(command)), metrics.Total(recorder => recorder.BusyNs(command)));
    }

    /// <summary>The counts of all clients.</summary>
    public readonly record struct Numbers(
        long Commands, long Connections, long Refused, long Hits, long Misses, long Errors, long BytesReceived, long BytesSent, long Expired,
        long Evicted)
    {
        public Numbers Minus(Numbers other) => new(
            Commands - other.Commands, Connections - other.Connections, Refused - other.Refused, Hits - other.Hits, Misses - other.Misses,
            Errors - other.Errors, BytesReceived - other.BytesReceived, BytesSent - other.BytesSent,
            Expired - other.Expired, Evicted - other.Evicted);
    }

    /// <summary>The counts of a command.</summary>
    public sealed record CommandNumbers(long Requests, long Errors, long Rejected, long BusyNs)
    {
        public CommandNumbers Minus(CommandNumbers other) =>
            new(Requests - other.Requests, Errors - other.Errors, Rejected - other.Rejected, BusyNs - other.BusyNs);
    }

    /// <summary>Rates per second.</summary>
    public sealed record Rates(long Commands, double KilobytesReceived, double KilobytesSent);
}
