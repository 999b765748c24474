namespace Cairn.Simulation.Servers;

/// <summary>How long the work of a server takes, in ticks of 100 ns of its only thread.</summary>
/// <param name="ReadTicks">To read what one connection has sent.</param>
/// <param name="CommandTicks">To execute a command.</param>
/// <param name="SendTicks">To send one connection what it gets in a turn.</param>
/// <param name="KeyTicks">To add a changed key, or a message, to what a connection gets.</param>
/// <param name="AcceptTicks">To accept a connection.</param>
internal sealed record ServerCosts(long ReadTicks, long CommandTicks, long SendTicks, long KeyTicks, long AcceptTicks)
{
    /// <summary>The times that matter least: runs that look for broken rules have few machines.</summary>
    public static readonly ServerCosts Small = new(0, 20, 0, 0, 0);

    /// <summary>The times of Redis 7.0.15 with 1,000 connections, as docs/scale.md describes them.</summary>
    public static readonly ServerCosts Measured = new(20, 5, 55, 5, 240);
}

/// <summary>What a server has done.</summary>
internal sealed class ServerCounters
{
    public long Commands { get; set; }

    public long Connections { get; set; }

    /// <summary>Gets or sets for how many ticks the server's thread was busy.</summary>
    public long BusyTicks { get; set; }

    /// <summary>Gets the messages that told a connection of changes.</summary>
    public long Pushes { get; private set; }

    /// <summary>Gets the changes in these messages.</summary>
    public long PushedKeys { get; private set; }

    public long PushedBytes { get; private set; }

    /// <summary>Gets or sets the pairs of a key and a connection in the table of tracking by keys.</summary>
    public long Tracked { get; set; }

    public void OnPush(int keys, int bytes)
    {
        Pushes++;
        PushedKeys += keys;
        PushedBytes += bytes;
    }
}
