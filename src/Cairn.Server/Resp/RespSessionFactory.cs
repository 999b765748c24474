using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

/// <summary>Creates the sessions of a listener that speaks RESP.</summary>
internal sealed class RespSessionFactory(RespServer server, RespLimits? limits = null) : SessionFactory
{
    private static readonly byte[] s_tooMany = "-ERR max number of clients reached\r\n"u8.ToArray();

    public override ReadOnlyMemory<byte> TooManyConnections => s_tooMany;

    public override SpokenProtocols Spoken => SpokenProtocols.Resp;

    public override Session Create(ClientConnection connection) =>
        new RespSession(server, new ConnectionPeer(connection), limits);
}
