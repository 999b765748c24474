using Cairn.Server.Buffers;
using Cairn.Server.Connections;

namespace Cairn.Server.Hosting;

/// <summary>Creates sessions that detect the client's protocol, for a port that serves both.</summary>
internal sealed class FirstByteSessionFactory(SessionFactory memcached, SessionFactory resp) : SessionFactory
{
    public override ReadOnlyMemory<byte> TooManyConnections => memcached.TooManyConnections;

    public override SpokenProtocols Spoken => memcached.Spoken | resp.Spoken;

    public override Session Create(ClientConnection connection) => new FirstByteSession(connection, memcached, resp);
}

/// <summary>
/// Waits for the first byte and then passes the connection to a session of the client's protocol. RESP requests are arrays, which begin
/// with an asterisk. No command of memcached does.
/// </summary>
internal sealed class FirstByteSession(ClientConnection connection, SessionFactory memcached, SessionFactory resp) : Session
{
    private const byte RespArray = (byte)'*';

    public override int Execute(ReadOnlySpan<byte> input, OutputBuffer output, int budget)
    {
        connection.Session = (input[0] == RespArray ? resp : memcached).Create(connection);
        connection.Session.OnOpened();
        return 0;
    }
}
