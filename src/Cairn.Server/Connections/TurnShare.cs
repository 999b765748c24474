namespace Cairn.Server.Connections;

/// <summary>Limits how much of one kind of long work a worker does in a turn (Worker I5). The unit is bytes read and written.</summary>
internal struct TurnShare
{
    /// <summary>The bytes of a share. A worker reads, copies and sends them in some tens of microseconds.</summary>
    public const int Bytes = 32 << 10;

    private long _done;

    /// <summary>Gets whether there may be another piece of work, of any length.</summary>
    public readonly bool HasRoom => _done < Bytes;

    /// <summary>Returns whether a connection that did this much work in one turn is served later than others.</summary>
    public static bool IsMuch(long work) => work >= Bytes / 2;

    public void Count(long bytes) => _done += bytes;
}
