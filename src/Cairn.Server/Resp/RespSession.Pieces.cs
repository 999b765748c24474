using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

// Long commands are executed in pieces. Before each element, such a command checks whether it must pause, and returns if so. Reasons are
// a full output, missing memory, and the end of the connection's share of the turn.
//
//   Begun --MustPause--> Paused --client has read, memory was freed, others were served--> Begun again, with ResumeAt --> ... --> Done
//
//   I1  The request of a paused command is not consumed. It is the first of the next input again, with its arguments in place.
//   I2  While a command is paused, nothing else is written to the output. The inbox waits, so no message gets inside a reply.
//   I3  A paused command holds only memory that HeldMemory counts, and at most one value (HeldValue): no lock, no partition.
//
// Commands between MULTI and EXEC are atomic. The partitions of their keys are held, so these commands cannot pause (I3). There, the same
// checks end the transaction if its replies exceed the limits.
internal sealed partial class RespSession
{
    /// <summary>The number of elements, such as keys, that are processed for one connection before its worker serves others.</summary>
    internal const int ElementsPerTurn = 1024;

    /// <summary>The number of bytes of a value that are copied in the time of one ordinary element.</summary>
    public const int BytesOfElement = 1024;

    // Values up to this length need no block of their own.
    private const int ShortBytes = OutputArena.SharedBlockBytes / 4;

    private OutputBuffer _output = null!; // Set before a command is executed.
    private CommandInfo? _pausedCommand;
    private bool _isInboxWaiting;
    private bool _isQueueOver;
    private long _elements; // Processed in this turn.
    private object[]? _seen;
    private HeldValue _source;
    private KeyScan? _scan;
    private long _keptBytes;

    /// <summary>Gets the element at which the present command continues; 0 if it begins.</summary>
    public int ResumeAt { get; private set; }

    /// <summary>Gets whether the session holds the value that provides the elements of a reply in pieces.</summary>
    public bool IsSourceHeld => _source.IsHeld;

    /// <summary>Gets that value, as of the beginning of the reply.</summary>
    public ReadOnlySpan<byte> Source => _source.Value;

    /// <summary>Gets whether the present command was queued by MULTI.</summary>
    public bool IsExecutingQueue => _isExecutingQueue;

    /// <summary>Gets the maximum length in bytes of a reply that is created as a whole.</summary>
    public long MaxReplyBytes => Peer.Limits.MaxOutputBytesPerConnection;

    private bool IsPaused => _pausedCommand is not null;

    private bool IsSilent => ReplyMode != ReplyMode.On;

    /// <summary>Returns what the present command has seen when it began. It is kept while the command is paused.</summary>
    public T[] BeginWith<T>(Func<RespServer, T[]> see)
        where T : class
    {
        if (ResumeAt == 0 || _seen is null)
        {
            _seen = see(Server);
        }

        return (T[])_seen;
    }

    /// <summary>Gets or sets the count of the present command so far.</summary>
    public long Tally { get; set; }

    /// <summary>Returns the element at which the present command begins or continues. Resets the tally to 0 when the command
    /// begins.</summary>
    public int BeginAt(int first)
    {
        if (ResumeAt != 0)
        {
            return ResumeAt;
        }

        Tally = 0;
        return first;
    }

    /// <summary>Returns whether the command must return now, because too much of its reply waits for the client, or because others wait
    /// to be served.</summary>
    /// <param name="element">The element at which it continues, as <see cref="ResumeAt"/>; not 0.</param>
    /// <param name="writer">The writer of the reply.</param>
    /// <param name="work">The work of this element, in ordinary elements.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MustPause(int element, ref RespWriter writer, int work = 1) =>
        ((_elements += work) > ElementsPerTurn || (IsSilent ? _worker.Discarding.Bytes : _output.UnsentBytes) + writer.PendingBytes >= _output.FullAt)
        && Pause(element, bytes: 0, ref writer);

    /// <summary>Returns whether the command must return now, because there is no memory for this many bytes of its reply, or because this
    /// turn has created enough long replies.</summary>
    /// <param name="bytes">The length of one value, or of a whole reply.</param>
    /// <param name="element">The element at which it continues, as <see cref="ResumeAt"/>; not 0.</param>
    /// <param name="writer">The writer of the reply.</param>
    public bool MustAwaitMemory(long bytes, int element, ref RespWriter writer) =>
        bytes > ShortBytes && !IsSilent && (_isExecutingQueue || !Peer.Held.TryTakeReply(bytes)) && Pause(element, bytes, ref writer);

    /// <summary>Counts work of the present command that cannot be done in pieces. The session executes no further command in a turn
    /// that has had its share.</summary>
    /// <param name="elements">The work, in ordinary elements.</param>
    public void CountWork(long elements) => _elements += elements;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool Pause(int element, long bytes, ref RespWriter writer)
    {
        if (_isExecutingScript)
        {
            return false;
        }

        if (_isExecutingQueue)
        {
            _queueWork += _elements;
            _elements = 0;
            return EndQueueIfOver(bytes, ref writer);
        }

        ResumeAt = element;
        AwaitedBytes = bytes;
        _pausedCommand = _commandAtHand;
        return true;
    }

    // The work of a transaction, and its replies plus this many bytes, must stay within the limits.
    private bool EndQueueIfOver(long bytes, ref RespWriter writer)
    {
        _isQueueOver |= IsQueueTooLong
            || (!IsSilent && (_output.UnsentBytes + writer.PendingBytes + bytes > _mostQueueBytes || Peer.Held.Account.IsExceeded));
        return _isQueueOver;
    }

    /// <summary>Holds a value for a reply in pieces, unless it is held already. Returns false if the connection waits for a hazard cell or
    /// for memory. The command must then return.</summary>
    public unsafe bool TryHoldSource(ReadOnlySpan<byte> key, int element, ref RespWriter writer)
    {
        if (_source.IsHeld)
        {
            return true;
        }

        fixed (byte* bytes = key)
        {
            KeyRef place = Keys.Pinned.Place(Keys.Engine, bytes, key.Length);
            return _source.TryHold(Keys.Engine, place, isUse: false, acceptHash: true) != PinStatus.NoFreeCell
                || !Pause(element, bytes: 0, ref writer);
        }
    }

    public void ReleaseSource() => _source.Release();

    /// <summary>Returns the scan of the present command, a new one if the command begins. The command calls <see cref="EndScan"/> when it
    /// is done.</summary>
    public KeyScan BeginScan(KeyFilter? filter, RespType? type)
    {
        if (ResumeAt == 0)
        {
            EndScan();
            _scan = _worker.TakeScan();
            _scan.Begin(User!.KeyPrefix, Keys.Pinned, filter, type);
        }

        return _scan!;
    }

    /// <summary>Releases the scan.</summary>
    public void EndScan()
    {
        if (_scan is { } scan)
        {
            _scan = null;
            _worker.ReturnScan(scan);
            CountKept();
        }
    }

    // The state that a paused command keeps, such as a scan that it has taken from the worker, counts as memory of its connection.
    private void CountKept()
    {
        _seen = IsPaused ? _seen : null;
        long bytes = (_scan?.HeldBytes ?? 0) + ((long)(_seen?.Length ?? 0) * IntPtr.Size);
        if (bytes != _keptBytes)
        {
            Peer.Held.Charge(bytes - _keptBytes);
            _keptBytes = bytes;
        }
    }

    // Makes a request that was not executed completely the next request again (I1).
    private void PutBack(CommandInfo? command, Cairn.Protocol.RespRequest request, int length)
    {
        if (_aheadNext == 0)
        {
            Array.Resize(ref _aheadRequests, Math.Max(8, _aheadRequests.Length));
            _aheadRead = 1;
            _aheadNext = 1;
        }

        _aheadRequests[--_aheadNext] = new AheadRequest(request, length, command);
    }
}
