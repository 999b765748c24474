using System.Runtime.CompilerServices;
using Cairn.Protocol;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

// Long replies are made in pieces. A command whose reply has many elements asks before each of them whether it must pause, and then returns:
//
//   Begun --MustPause--> Paused --the client has read, or memory came free--> Begun again, with ResumeAt --> ... --> Done
//
//   I1  The request of a paused command is not consumed: it is the first of the next input again, with its arguments in place.
//   I2  While a command is paused, nothing else is written to the output: the inbox waits. So no message gets into the midst of a reply.
//   I3  Nothing is held across a pause but what HeldMemory counts: no lock, no pin, no partition.
//
// Commands between MULTI and EXEC happen at one moment, while the partitions of their keys are held, so they cannot pause (I3). There the
// same questions end the transaction when its replies become longer than the limits allow.
internal sealed partial class RespSession
{
    // Values up to this length need no block of their own.
    private const int ShortBytes = OutputArena.SharedBlockBytes / 4;

    private OutputBuffer _output = null!; // Set before a command is executed.
    private CommandInfo? _pausedCommand;
    private bool _isInboxWaiting;
    private bool _isQueueOver;

    /// <summary>The element with which the command at hand goes on; 0 if it begins.</summary>
    public int ResumeAt { get; private set; }

    /// <summary>The value that the elements of a paused reply come from, as it was when the reply began.</summary>
    public HeldValue HeldValue { get; }

    /// <summary>The longest reply, in bytes, that may be made at once.</summary>
    public long MaxReplyBytes => Peer.Limits.OutputBytesPerConnection;

    private bool IsPaused => _pausedCommand is not null;

    private bool IsSilent => ReplyMode != ReplyMode.On;

    /// <summary>Whether the command must return now, because so much of its reply waits for the client.</summary>
    /// <param name="element">With which it goes on, as <see cref="ResumeAt"/>; not 0.</param>
    /// <param name="writer">The reply.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MustPause(int element, ref RespWriter writer) =>
        (IsSilent ? _worker.Discarding.Bytes : _output.UnsentBytes) + writer.PendingBytes >= _output.FullAt && Pause(element, bytes: 0, ref writer);

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
