using Cairn.Server.Connections;

namespace Cairn.Server.Hosting;

/// <summary>Makes sessions that find out what a client speaks, for a port that serves both protocols.</summary>
internal sealed class FirstByteSessionFactory(SessionFactory memcached, SessionFactory resp) : SessionFactory
{
    public override ReadOnlyMemory<byte> TooManyConnections => memcached.TooManyConnections;

    public override SpokenProtocols Spoken => memcached.Spoken | resp.Spoken;

    public override Session Create(ClientConnection connection) => new FirstByteSession(connection, memcached, resp);
}

/// <summary>
/// Waits for the first byte and hands the connection to the session of the protocol that begins so: requests of RESP are arrays, which begin
/// with an asterisk, as no command of memcached does.
/// </summary>
internal sealed class FirstByteSession(ClientConnection connection, SessionFactory memcached, SessionFactory resp) : Session
{
    private const byte RespArray = (byte)'*';

    public override int Execute(ReadOnlySpan<byte> input, OutputBuffer output, int budget)
    {
        connection.Session = (input[0] == RespArray ? resp : memcached).Create(connection);
        return 0;
    }
}
