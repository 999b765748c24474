using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Network;

/// <summary>One direction of a connection: the bytes that are on their way.</summary>
internal sealed class Direction(VirtualNetwork network, VirtualConnection connection, bool isUp)
{
    private static readonly byte[] s_end = [];

    private readonly LinkedList<(byte[] Bytes, long SentAt)> _kept = new();
    private long _lastArrival;
    private bool _isResuming;

    /// <summary>Gets or sets whether bytes vanish.</summary>
    public bool IsDead { get; set; }

    /// <summary>Gets or sets the number of bytes after which the connection breaks; -1 for never.</summary>
    public long BreaksAfter { get; set; } = -1;

    /// <summary>Gets or sets which sides learn of that break.</summary>
    public (bool Machine, bool Server) BreakTells { get; set; } = (true, true);

    /// <summary>Gets the number of bytes that have not arrived.</summary>
    public int OnTheWay { get; private set; }

    /// <summary>Gets when the bytes that arrived last were sent.</summary>
    public long SentAt { get; private set; }

    /// <summary>Gets or sets what follows each arrival.</summary>
    public Action? Arrived { get; set; }

    public void Send(ReadOnlySpan<byte> bytes)
    {
        SeededRandom random = network.Random;
        while (bytes.Length > 0)
        {
            int length = random.Below(8) == 0 ? 1 + random.Below(bytes.Length) : bytes.Length;
            bool breaks = BreaksAfter >= 0 && length > BreaksAfter;
            if (breaks)
            {
                length = (int)BreaksAfter;
            }

            if (length > 0)
            {
                Put(bytes[..length].ToArray());
                bytes = bytes[length..];
            }

            if (BreaksAfter >= 0)
            {
                BreaksAfter -= length;
            }

            if (breaks)
            {
                network.World.Schedule(connection.Link.Latency(random, isUp), () => connection.Break(BreakTells.Machine, BreakTells.Server));
                IsDead = true;
                return;
            }
        }
    }

    public void End() => Put(s_end);

    public void Resume(long delay)
    {
        if (_kept.Count > 0 && !_isResuming)
        {
            _isResuming = true;
            network.World.Schedule(delay, () =>
            {
                _isResuming = false;
                while (_kept.First is { } first && !connection.Link.IsCut(isUp) && !IsDead)
                {
                    _kept.RemoveFirst();
                    Deliver(first.Value.Bytes, first.Value.SentAt);
                }
            });
        }
    }

    private void Put(byte[] fragment)
    {
        if (IsDead)
        {
            return;
        }

        World world = network.World;
        long sentAt = world.Now;
        OnTheWay += fragment.Length;
        _lastArrival = Math.Max(_lastArrival + 1, world.Now + connection.Link.Latency(network.Random, isUp));
        world.Schedule(_lastArrival - world.Now, () =>
        {
            if (IsDead)
            {
                return;
            }

            if (connection.Link.IsCut(isUp) || _kept.Count > 0)
            {
                _kept.AddLast((fragment, sentAt));
                if (!connection.Link.IsCut(isUp))
                {
                    Resume(0);
                }
            }
            else
            {
                Deliver(fragment, sentAt);
            }
        });
    }

    private void Deliver(byte[] fragment, long sentAt)
    {
        SentAt = sentAt;
        OnTheWay -= fragment.Length;
        connection.Arrive(isUp, ReferenceEquals(fragment, s_end) ? null : fragment);
        Arrived?.Invoke();
    }
}
