using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Cairn.Cli.Clients;

/// <summary>A server with its protocol and credentials.</summary>
internal sealed record ServerTarget
{
    public required ServerAddress Address { get; init; }

    /// <summary>True if the user named no server.</summary>
    public bool IsDefault { get; init; }

    /// <summary>The protocol; null to detect it.</summary>
    public ServerProtocol? Protocol { get; init; }

    public string? User { get; init; }

    public string? Password { get; init; }

    /// <summary>The TLS options; null for no TLS.</summary>
    public SslClientAuthenticationOptions? Tls { get; init; }

    /// <summary>Creates TLS options.</summary>
    /// <param name="address">The address of the server; its certificate must be for this name.</param>
    /// <param name="authorities">The PEM file with the trusted authorities; null for the system's authorities.</param>
    /// <param name="certificate">The PEM file with the client certificate; null for none.</param>
    /// <param name="key">The file with the certificate's key; null if the key is in the same file.</param>
    /// <param name="isAnyServerTrusted">True to accept any certificate.</param>
    /// <exception cref="ToolException">A file cannot be read or has other contents.</exception>
    public static SslClientAuthenticationOptions MakeTls(
        ServerAddress address, string? authorities, string? certificate, string? key, bool isAnyServerTrusted)
    {
        try
        {
            var options = new SslClientAuthenticationOptions { TargetHost = address.UnixPath is null ? address.Host : "localhost" };
            if (isAnyServerTrusted)
            {
#pragma warning disable CA5359 // The user requested it with an explicit option.
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
