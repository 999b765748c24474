using System.Runtime.CompilerServices;
using Cairn.Engine;
using Cairn.Protocol;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

// Long commands are executed in pieces. A command with many elements asks before each of them whether it must pause, and then returns: because
// its reply waits for the client, because there is no memory, or because it has worked as long as others may wait for it.
//
//   Begun --MustPause--> Paused --the client has read, memory came free, others were served--> Begun again, with ResumeAt --> ... --> Done
//
//   I1  The request of a paused command is not consumed: it is the first of the next input again, with its arguments in place.
//   I2  While a command is paused, nothing else is written to the output: the inbox waits. So no message gets into the midst of a reply.
//   I3  Nothing is held across a pause but what HeldMemory counts: no lock, no pin, no partition.
//
// Commands between MULTI and EXEC happen at one moment, while the partitions of their keys are held, so they cannot pause (I3). There the
// same questions end the transaction when its replies become longer than the limits allow.
internal sealed partial class RespSession
{
    /// <summary>Elements, such as keys, that are worked on for one connection before the others of its worker are served.</summary>
    internal const int ElementsPerTurn = 1024;

    // Values up to this length need no block of their own.
    private const int ShortBytes = OutputArena.SharedBlockBytes / 4;

    private OutputBuffer _output = null!; // Set before a command is executed.
    private CommandInfo? _pausedCommand;
    private bool _isInboxWaiting;
    private bool _isQueueOver;
    private long _elements; // Worked on in this turn.
    private KeyScan? _scan;
    private long _scanBytes;

    /// <summary>The element with which the command at hand goes on; 0 if it begins.</summary>
    public int ResumeAt { get; private set; }

    /// <summary>The value that the elements of a paused reply come from, as it was when the reply began.</summary>
    public ReplySource ReplySource { get; }

    /// <summary>The longest reply, in bytes, that may be made at once.</summary>
    public long MaxReplyBytes => Peer.Limits.OutputBytesPerConnection;

    private bool IsPaused => _pausedCommand is not null;

    private bool IsSilent => ReplyMode != ReplyMode.On;

    /// <summary>What the command at hand has counted so far.</summary>
    public long Tally { get; set; }

    /// <summary>The element that the command at hand begins or goes on with. When it begins, its tally is 0.</summary>
    public int BeginAt(int first)
    {
        if (ResumeAt != 0)
        {
            return ResumeAt;
        }

        Tally = 0;
        return first;
    }

    /// <summary>Whether the command must return now, because so much of its reply waits for the client, or others wait to be served.</summary>
    /// <param name="element">With which it goes on, as <see cref="ResumeAt"/>; not 0.</param>
    /// <param name="writer">The reply.</param>
    /// <param name="work">What this element takes, in elements of ordinary size.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MustPause(int element, ref RespWriter writer, int work = 1) =>
        ((_elements += work) > ElementsPerTurn || (IsSilent ? _worker.Discarding.Bytes : _output.UnsentBytes) + writer.PendingBytes >= _output.FullAt)
        && Pause(element, bytes: 0, ref writer);

    /// <summary>Whether the command must return now, because there is no memory for so many bytes of its reply.</summary>
    /// <param name="bytes">Of one value, or of a whole reply.</param>
    /// <param name="element">With which it goes on, as <see cref="ResumeAt"/>; not 0.</param>
    /// <param name="writer">The reply.</param>
    public bool MustAwaitMemory(long bytes, int element, ref RespWriter writer) =>
        bytes > ShortBytes && !IsSilent && (_isExecutingQueue || !Peer.Held.MayReply(bytes)) && Pause(element, bytes, ref writer);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool Pause(int element, long bytes, ref RespWriter writer)
    {
        if (_isExecutingQueue)
        {
            _elements = 0;
            return EndQueueIfOver(bytes, ref writer);
        }

        ResumeAt = element;
        AwaitedBytes = bytes;
        _pausedCommand = _commandAtHand;
        return true;
    }

    // The replies of a transaction, with so many bytes more, must stay within the limits.
    private bool EndQueueIfOver(long bytes, ref RespWriter writer)
    {
        if (!IsSilent && (_output.UnsentBytes + writer.PendingBytes + bytes > MaxReplyBytes || Peer.Held.Account.IsExceeded))
        {
            _isQueueOver = true;
        }

        return _isQueueOver;
    }

    /// <summary>The scan of the command at hand: a new one when the command begins, which calls <see cref="EndScan"/> when it is done.</summary>
    public KeyScan BeginScan(KeyFilter? filter, EntryType? type)
    {
        if (ResumeAt == 0)
        {
            EndScan();
            _scan = _worker.TakeScan();
            _scan.Begin(User!.KeyPrefix, filter, type);
        }

        return _scan!;
    }

    /// <summary>Lets go of the scan.</summary>
    public void EndScan()
    {
        if (_scan is { } scan)
        {
            _scan = null;
            _worker.ReturnScan(scan);
            CountScan();
        }
    }

    // The worker's scan that a paused command has taken with it counts for its connection.
    private void CountScan()
    {
        long bytes = _scan?.HeldBytes ?? 0;
        if (bytes != _scanBytes)
        {
            Peer.Held.Charge(bytes - _scanBytes);
            _scanBytes = bytes;
        }
    }

    // The request was not executed, or not to its end: it is the next one again (I1).
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
