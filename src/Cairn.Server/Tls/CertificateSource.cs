using Cairn.Server.Connections;

namespace Cairn.Server.Tls;

internal sealed class CertificateSource : IDisposable
{
    public static CertificateSource Load(TlsOptions options, ServerLog log) => throw new ServerException("TLS is not there yet.");

    public void Dispose()
    {
    }
}
