using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Cairn.Redis.Tests.Testing;

/// <summary>A certificate authority and a server's certificate, in files for redis-server.</summary>
internal sealed class TestAuthority
{
    public TestAuthority(TestDirectory directory)
    {
        AuthorityPath = directory["authority.pem"];
        CertificatePath = directory["server.pem"];
        KeyPath = directory["server.key"];
        using ECDsa authorityKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var authority = new CertificateRequest("CN=Test authority", authorityKey, HashAlgorithmName.SHA256);
        authority.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        using X509Certificate2 issuer = authority.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(30));
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=localhost", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName("localhost");
        names.AddIpAddress(IPAddress.Loopback);
        request.CertificateExtensions.Add(names.Build());
        using X509Certificate2 server = request.Create(
            issuer, DateTimeOffset.UtcNow.AddHours(-1), DateTimeOffset.UtcNow.AddDays(10), RandomNumberGenerator.GetBytes(8));
        File.WriteAllText(AuthorityPath, issuer.ExportCertificatePem());
        File.WriteAllText(CertificatePath, server.ExportCertificatePem());
        File.WriteAllText(KeyPath, key.ExportPkcs8PrivateKeyPem());
    }

    public string AuthorityPath { get; }

    public string CertificatePath { get; }

    public string KeyPath { get; }
}
