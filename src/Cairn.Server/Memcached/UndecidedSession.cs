using Cairn.Server.Buffers;
using Cairn.Server.Connections;

namespace Cairn.Server.Memcached;

/// <summary>Waits for the first byte, which shows whether the client speaks the text or the binary protocol.</summary>
internal sealed class UndecidedSession(MemcachedSessions sessions, ClientConnection connection) : Session
{
    public override int Execute(ReadOnlySpan<byte> input, OutputBuffer output, int budget)
    {
        connection.Session = input[0] == MemcachedBinary.RequestMagic ? sessions.CreateBinary(connection) : sessions.CreateText(connection);
        return 0;
    }

    public override void OnOpened() => sessions.NoteOpened(connection);

    public override void OnClosed(CloseReason reason) => sessions.NoteClosed(connection, reason);
}
