using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Cairn.Cli.Clients;

/// <summary>A server, and how to get in.</summary>
internal sealed record ServerTarget
{
    public required ServerAddress Address { get; init; }

    /// <summary>Null: found out by asking.</summary>
    public ServerProtocol? Protocol { get; init; }

    public string? User { get; init; }

    public string? Password { get; init; }

    /// <summary>Null: without TLS.</summary>
    public SslClientAuthenticationOptions? Tls { get; init; }

    /// <summary>What TLS needs to know.</summary>
    /// <param name="address">Where the server is: its certificate has to be for this name.</param>
    /// <param name="authorities">File in PEM form with the authorities to trust; null for the system's.</param>
    /// <param name="certificate">File in PEM form with our own certificate; null for none.</param>
    /// <param name="key">File with its key; null if that is in the same file.</param>
    /// <param name="isAnyServerTrusted">Whether any certificate will do.</param>
    /// <exception cref="ToolException">A file cannot be read or holds something else.</exception>
    public static SslClientAuthenticationOptions MakeTls(
        ServerAddress address, string? authorities, string? certificate, string? key, bool isAnyServerTrusted)
    {
        try
        {
            var options = new SslClientAuthenticationOptions { TargetHost = address.UnixPath is null ? address.Host : "localhost" };
            if (isAnyServerTrusted)
            {
#pragma warning disable CA5359 // The user asked for it, by an option that says so.
                options.RemoteCertificateValidationCallback = (_, _, _, _) => true;
#pragma warning restore CA5359
            }
            else if (authorities is not null)
            {
                var policy = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck };
                policy.CustomTrustStore.ImportFromPemFile(authorities);
                options.CertificateChainPolicy = policy;
            }

            if (certificate is not null)
            {
                options.ClientCertificates = [X509Certificate2.CreateFromPemFile(certificate, key ?? certificate)];
            }

            return options;
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or CryptographicException)
        {
            throw new ToolException(ExitCode.File, $"a certificate cannot be used: {failure.Message}", failure);
        }
    }
}
