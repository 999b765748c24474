using Cairn.Server.Connections;
using Cairn.Server.Resp.Hashes;
using Cairn.Server.Resp.PubSub;

namespace Cairn.Server.Resp;

/// <summary>The state that the sessions of one worker share, because only one of them executes at a time. Worker only.</summary>
internal sealed class RespWorker(RespServer server)
{
    private long _commands;
    private HashEditor? _editor;
    private KeyScan? _keyScan;
    private DiscardingWriter? _discarding;

    /// <summary>Gets the places of the keys of the requests that are about to be executed.</summary>
    public KeysAhead Ahead { get; } = new();

    public KeySpace Keys { get; } = new(server.Store, server.MaxValueBytes, server.Pinned) { Events = server.Events };

    /// <summary>Gets the editor of hashes.</summary>
    public HashEditor Editor => _editor ??= new HashEditor();

    /// <summary>Gets the destination of unwanted replies.</summary>
    public DiscardingWriter Discarding => _discarding ??= new DiscardingWriter();

    /// <summary>Gets the reader of a transaction's queued requests.</summary>
    public RespRequestReader QueueReader { get; } = new();

    /// <summary>Gets the list in which the receivers of a message are collected.</summary>
    public List<Receiver> Receivers { get; } = [];

    /// <summary>Gets the number of requests executed. Thread-safe.</summary>
    public long CommandCount => Volatile.Read(ref _commands);

    /// <summary>Takes the worker's scan, for a command that collects keys. If the command pauses with it, the next command gets a new
    /// one.</summary>
    public KeyScan TakeScan()
    {
        KeyScan scan = _keyScan ?? new KeyScan();
        _keyScan = null;
        return scan;
    }

    /// <summary>Returns a scan that a command no longer needs.</summary>
    public void ReturnScan(KeyScan scan) => _keyScan ??= scan;

    /// <summary>Counts executed requests. There is one writer, so the addition need not be atomic; the write only must not be
    /// torn.</summary>
    public void CountCommands(int count) => Volatile.Write(ref _commands, _commands + count);

    /// <summary>Frees memory that only a long value needed, after a batch of requests.</summary>
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
