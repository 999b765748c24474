using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Cairn.Server.Tests.Testing;

/// <summary>A certificate authority, a server's certificate on disk, a client's certificate, and a certificate of another authority.</summary>
internal sealed class TestCertificates
{
    private readonly X509Certificate2 _authority = MakeAuthority("CN=Test authority");

    public TestCertificates(string directory)
    {
        AuthorityPath = Path.Combine(directory, "authority.pem");
        ServerPath = Path.Combine(directory, "server.pem");
        ServerKeyPath = Path.Combine(directory, "server.key");
        File.WriteAllText(AuthorityPath, _authority.ExportCertificatePem());
        WriteServer();
        Client = Make("CN=client", _authority);
        Stranger = Make("CN=stranger", MakeAuthority("CN=Another authority"));
    }

    public string AuthorityPath { get; }

    public string ServerPath { get; }

    public string ServerKeyPath { get; }

    public X509Certificate2 Client { get; }

    public X509Certificate2 Stranger { get; }

    /// <summary>Writes a new certificate for the server.</summary>
    public void WriteServer()
    {
        X509Certificate2 server = Make("CN=localhost", _authority);
        using ECDsa key = server.GetECDsaPrivateKey()!;
        File.WriteAllText(ServerKeyPath, key.ExportPkcs8PrivateKeyPem());
        File.WriteAllText(ServerPath, server.ExportCertificatePem());
    }

    private static X509Certificate2 MakeAuthority(string name)
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(name, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        return request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(30));
    }

    private static X509Certificate2 Make(string name, X509Certificate2 authority)
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(name, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension(
            [new Oid("1.3.6.1.5.5.7.3.1"), new Oid("1.3.6.1.5.5.7.3.2")], critical: false));
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName("localhost");
        names.AddIpAddress(IPAddress.Loopback);
        request.CertificateExtensions.Add(names.Build());
        using X509Certificate2 signed = request.Create(
            authority, DateTimeOffset.UtcNow.AddHours(-1), DateTimeOffset.UtcNow.AddDays(10), RandomNumberGenerator.GetBytes(8));
        return signed.CopyWithPrivateKey(key);
    }
}
