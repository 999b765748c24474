using Cairn.Protocol;
using Cairn.Server.Connections;
using Cairn.Server.Resp.Hashes;

namespace Cairn.Server.Resp;

/// <summary>What the sessions of one worker share, because one of them executes at a time. Used by that worker only.</summary>
internal sealed class RespWorker(RespServer server)
{
    private long _commands;
    private HashEditor? _editor;
    private KeyScan? _keyScan;
    private DiscardingWriter? _discarding;

    /// <summary>Where the keys lie of the requests that are about to be executed.</summary>
    public KeysAhead Ahead { get; } = new();

    public KeySpace Keys { get; } = new(server.Store, server.MaxValueBytes) { Events = server.Events };

    /// <summary>Where hashes are changed.</summary>
    public HashEditor Editor => _editor ??= new HashEditor();

    /// <summary>Where replies go that are not wanted.</summary>
    public DiscardingWriter Discarding => _discarding ??= new DiscardingWriter();

    /// <summary>Where the requests of a transaction are read again.</summary>
    public RespRequestReader QueueReader { get; } = new();

    /// <summary>Where the receivers of a message are gathered.</summary>
    public List<(RespSession Session, string? Pattern)> Receivers { get; } = [];

    /// <summary>Requests executed. Any thread.</summary>
    public long CommandCount => Volatile.Read(ref _commands);

    /// <summary>Where a command gathers keys. It may pause with it, and another one takes another.</summary>
    public KeyScan TakeScan()
    {
        KeyScan scan = _keyScan ?? new KeyScan();
        _keyScan = null;
        return scan;
    }

    /// <summary>A command needs it no more.</summary>
    public void ReturnScan(KeyScan scan) => _keyScan ??= scan;

    /// <summary>Requests were executed. One writer, so an addition need not be atomic; it only must not be torn.</summary>
    public void CountCommands(int count) => Volatile.Write(ref _commands, _commands + count);

    /// <summary>A batch of requests was executed: what only a long value needed is let go.</summary>
    public void Trim(HeldMemory memory)
    {
        QueueReader.Trim();
        long bytes = Keys.Trim() + (_editor?.Trim() ?? 0) + (_keyScan?.Trim() ?? 0) + (_discarding?.Trim() ?? 0);
        if (bytes > 0)
        {
            memory.Account.CountHeap(bytes);
        }
    }
}
