using Cairn.Server.Buffers;
using Cairn.Server.Connections;

namespace Cairn.Server.Memcached;

/// <summary>A connection that watches. It discards what the client sends, and sends the lines of the <see cref="WatchLog"/>.</summary>
internal sealed class WatchSession(MemcachedSessions sessions, ClientConnection connection, WatchKinds kinds) : Session
{
    private readonly Lock _lock = new();
    private readonly ArrayBufferWriter<byte> _waiting = new(); // Requires _lock.
    private long _skipped; // Requires _lock.

    public WatchKinds Kinds => kinds;

    public override bool OnlyReceives => true;

    /// <summary>Adds a line, if at most this number of bytes then waits for the client. Otherwise counts it. Thread-safe.</summary>
    public bool TryAdd(ReadOnlySpan<byte> line, int mostBytes)
    {
        bool isFirst;
        lock (_lock)
        {
            isFirst = _waiting.WrittenCount == 0;
            if (_waiting.WrittenCount + connection.Output.UnsentBytes + line.Length > mostBytes) // The output may be sent meanwhile.
            {
                _skipped++;
                return false;
            }

            WriteSkipped();
            _waiting.Write(line);
        }

        if (isFirst)
        {
            connection.Post(static connection => (connection.Session as WatchSession)?.Deliver());
        }

        return true;
    }

    public override int Execute(ReadOnlySpan<byte> input, OutputBuffer output, int budget) => input.Length;

    public override void OnClosed(CloseReason reason)
    {
        sessions.Watch.Remove(this);
        sessions.NoteClosed(connection, reason);
    }

    /// <summary>Tells the client that lines were dropped, although none follows yet. While lines wait, the number goes before the next one, because a
    /// full output after this would drop that line, and two numbers would follow each other.</summary>
    public override void OnDrained()
    {
        lock (_lock)
        {
            if (_skipped != 0 && _waiting.WrittenCount == 0)
            {
                WriteSkipped();
                Flush();
            }
        }
    }

    private void Deliver()
    {
        lock (_lock)
        {
            Flush();
        }
    }

    // Requires _lock.
    private void WriteSkipped()
    {
        if (_skipped != 0)
        {
            _waiting.Write(Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"skipped={_skipped}\n")));
            _skipped = 0;
        }
    }

    // Requires _lock. Worker only.
    private void Flush()
    {
        connection.Output.Write(_waiting.WrittenSpan);
        connection.PostedBytes += _waiting.WrittenCount;
        _waiting.ResetWrittenCount();
    }
}
