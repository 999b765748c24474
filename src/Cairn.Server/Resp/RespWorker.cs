namespace Cairn.Server.Resp;

/// <summary>What the sessions of one worker share. Written by that worker only.</summary>
internal sealed class RespWorker
{
    private long _commands;

    /// <summary>Where the keys lie of the requests that are about to be executed.</summary>
    public KeysAhead Ahead { get; } = new();

    /// <summary>Requests executed. Any thread.</summary>
    public long CommandCount => Volatile.Read(ref _commands);

    /// <summary>Requests were executed. One writer, so an addition need not be atomic; it only must not be torn.</summary>
    public void CountCommands(int count) => Volatile.Write(ref _commands, _commands + count);
}
