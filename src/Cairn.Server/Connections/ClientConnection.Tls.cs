using Cairn.Server.Buffers;
using Cairn.Server.Tls;

namespace Cairn.Server.Connections;

// The side of the connection that TLS uses.
internal sealed unsafe partial class ClientConnection : ITlsConnection
{
    BlockPool ITlsConnection.Pool => _worker.Pool;

    // Also true if its session has closed it in this turn: the session may still execute input that was decrypted.
    bool ITlsConnection.IsOpen => State == ConnectionState.Open;

    bool ITlsConnection.IsClosed => State == ConnectionState.Closed;

    bool ITlsConnection.IsOnWorker => _worker.IsCurrentThread;

    /// <summary>Puts TLS between the output and the channel, and begins the handshake. The handshake continues as bytes arrive.</summary>
    public void StartTls(CertificateSource certificates)
    {
        WireOutput = new OutputBuffer(_worker.Arena);
        Output.Downstream = WireOutput;
        Tls = new TlsFilter(this, WireOutput);
        Tls.Start(certificates);
    }

    void ITlsConnection.Charge(int bytes) => Held.Charge(bytes);

    void ITlsConnection.EndInput() => IsInputEnded = true;

    void ITlsConnection.MakeReady() => _worker.MakeReady(this);

    void ITlsConnection.OnFailed(Exception e) => _worker.OnTlsFailed(this, e);
}
