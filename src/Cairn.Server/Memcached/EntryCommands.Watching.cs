using Cairn.Keys;
using Cairn.Server.Connections;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

// The lines of the log of watchers about keys, in the form of memcached. Entries are in its class 1, missing ones in class 0.
internal sealed unsafe partial class EntryCommands
{
    private readonly WatchLog _watch;

    /// <summary>Gets or sets the connection whose requests are executed; null in tests.</summary>
    public ClientConnection? Connection { get; set; }

    private int Descriptor => Connection?.Channel.Descriptor ?? 0;

    /// <summary>Logs the look-up of a key.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void NoteGet(in KeyRef key)
    {
        if (_watch.Wants(WatchKinds.Fetchers))
        {
            LogGet(key);
        }
    }

    /// <summary>Logs the result of a command that stores.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void NoteStore(in KeyRef key, MemcachedCommand command, WriteStatus status, int valueBytes, long seconds)
    {
        if (_watch.Wants(WatchKinds.Mutations))
        {
            LogStore(key, command, status, valueBytes, seconds);
        }
    }

    /// <summary>Removes an entry as <see cref="Remove"/> does, and logs it.</summary>
    public WriteStatus RemoveNoted(in KeyRef key, ulong expectedVersion, string command)
    {
        if (!_watch.Wants(WatchKinds.Deletions))
        {
            return Remove(key, expectedVersion);
        }

        _engine.TryGetInfo(key, acceptStale: false, out EntryInfo info);
        WriteStatus status = Remove(key, expectedVersion);
        if (status == WriteStatus.Stored)
        {
            _watch.Write(
                WatchKinds.Deletions, string.Create(
                    CultureInfo.InvariantCulture,
                    $"type=deleted key={KeyListing.Escaped(NameOf(key))} cmd={command} clsid=1 size={info.ValueBytes}"));
        }

        return status;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void LogGet(in KeyRef key)
    {
        bool isFound = _engine.TryGetInfo(key, acceptStale: false, out EntryInfo info);
        _watch.WriteRead(NameOf(key), isFound, Descriptor, info.ValueBytes);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void LogStore(in KeyRef key, MemcachedCommand command, WriteStatus status, int valueBytes, long seconds)
    {
        string result = status switch
        {
            WriteStatus.Stored => "stored",
            WriteStatus.VersionMismatch => "exists",
            WriteStatus.NotFound when command == MemcachedCommand.Cas => "not_found",
            WriteStatus.NotFound or WriteStatus.Exists => "not_stored",
            WriteStatus.TooLarge => "too_large",
            _ => "no_memory",
        };
        _watch.Write(
            WatchKinds.Mutations, string.Create(
                CultureInfo.InvariantCulture,
                $"type=item_store key={KeyListing.Escaped(NameOf(key))} status={result} cmd={MemcachedCommands.NameOf(command)} ttl={Math.Max(0, seconds)} clsid=1 cfd={Descriptor} size={valueBytes}"));
    }
}
