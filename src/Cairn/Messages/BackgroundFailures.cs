namespace Cairn.Messages;

/// <summary>
/// Failures of work for which no caller waits. A store has no log of its own, so a cache or a server above it receives a message about each kind of work, at
/// most once a minute. Thread-safe.
/// </summary>
internal sealed class BackgroundFailures
{
    private const long QuietMs = 60_000;

    private readonly Lock _lock = new();
    private readonly Dictionary<string, (long ToldAtMs, long Unsaid)> _kinds = new(StringComparer.Ordinal);
    private readonly List<Action<string>> _receivers = [];

    /// <summary>Gets or sets the source of milliseconds. Tests replace it.</summary>
    internal Func<long> NowMs { get; set; } = static () => Environment.TickCount64;

    /// <summary>Adds a receiver. Of several, only the first gets messages: caches that share a store log a failure once.</summary>
    public void Add(Action<string> receiver)
    {
        lock (_lock)
        {
            _receivers.Add(receiver);
        }
    }

    public void Remove(Action<string> receiver)
    {
        lock (_lock)
        {
            _receivers.Remove(receiver);
        }
    }

    /// <summary>Passes a failure on. The caller holds no lock of the store, because the receiver is code of an application.</summary>
    /// <param name="work">The work that failed, as the beginning of a sentence.</param>
    /// <param name="reason">The reason, as a sentence.</param>
    public void Report(string work, string reason)
    {
        Action<string> receiver;
        long unsaid;
        lock (_lock)
        {
            long now = NowMs();
            bool wasTold = _kinds.TryGetValue(work, out (long ToldAtMs, long Unsaid) kind);
            if (_receivers.Count == 0 || (wasTold && now - kind.ToldAtMs < QuietMs))
            {
                _kinds[work] = kind with { ToldAtMs = wasTold ? kind.ToldAtMs : now - QuietMs, Unsaid = kind.Unsaid + 1 };
                return;
            }

            receiver = _receivers[0];
            unsaid = kind.Unsaid;
            _kinds[work] = (now, 0);
        }

        string others = unsaid == 0 ? "" : string.Create(CultureInfo.InvariantCulture, $" ({unsaid:N0} more since the last such message)");
        receiver($"{work} failed{others}; it is tried again: {reason}");
    }
}
