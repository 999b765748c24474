// A listener's certificate, which is reloaded when its files change. Existing connections keep their certificate; new ones get the new
// certificate. The source reads the files every few seconds and compares their content. So it also notices a change of a symbolic link
// above them, which container platforms make. It tries files again that cannot be used (half written, or key and certificate of
// different pairs). Until then, it keeps the old certificate.
using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Cairn.Platform;
using Cairn.Server.Logging;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Tls;

internal sealed class CertificateSource : IDisposable
{
    /// <summary>The interval at which the files are checked.</summary>
    public static readonly TimeSpan ReloadInterval = TimeSpan.FromSeconds(5);

    private const string ClientAuthentication = "1.3.6.1.5.5.7.3.2";

    private readonly TlsOptions _options;
    private readonly ILogger _log;
    private readonly Lock _reloading = new();
    private readonly ITimer _timer;
    private byte[] _digest;
    private SslServerAuthenticationOptions _current;

    private CertificateSource(TlsOptions options, ILogger log, TimeProvider clock)
    {
        _options = options;
        _log = log;
        (_current, _digest) = Read(options);
        _timer = clock.CreateTimer(static source => ((CertificateSource)source!).Reload(), this, ReloadInterval, ReloadInterval);
    }

    /// <summary>Gets the settings of new handshakes. Thread-safe.</summary>
    public SslServerAuthenticationOptions Current => Volatile.Read(ref _current); // Acquire; pairs with Reload. A stale value is harmless.

    /// <summary>Reads the files.</summary>
    /// <exception cref="ServerException">The files cannot be used.</exception>
    public static CertificateSource Load(TlsOptions options, ILogger log, TimeProvider clock) => new(options, log, clock);

    /// <summary>Checks whether the files have changed. Thread-safe.</summary>
    public void Reload()
    {
        lock (_reloading)
        {
            try
            {
                if (DigestOf(_options).AsSpan().SequenceEqual(_digest))
                {
                    return;
                }

                (SslServerAuthenticationOptions current, byte[] digest) = Read(_options);

                // Release; pairs with Current: the object is complete before a reader can see it.
                Volatile.Write(ref _current, current);
                _digest = digest;
                _log.Write(LogLevel.Information, $"The certificate '{_options.CertificatePath}' was changed; new connections use it.");
            }
#pragma warning disable CA1031 // Whatever the failure is, the earlier certificate can be used, and the process must not end.
            catch (Exception e)
#pragma warning restore CA1031
            {
                _log.Write(LogLevel.Warning, $"{e.Message} The earlier certificate stays in use.");
            }
        }
    }

    public void Dispose() => _timer.Dispose();

    private static (SslServerAuthenticationOptions Current, byte[] Digest) Read(TlsOptions options)
    {
        byte[] digest = DigestOf(options);
        X509Certificate2 certificate;
        var chain = new X509Certificate2Collection();
        try
        {
            certificate = X509Certificate2.CreateFromPemFile(options.CertificatePath, options.KeyPath);
            chain.ImportFromPemFile(options.CertificatePath); // Includes the certificate itself, which is harmless.
            if (OperatingSystem.IsWindows())
            {
                // TLS on Windows does not accept a key that exists only in memory.
                certificate = X509CertificateLoader.LoadPkcs12(certificate.Export(X509ContentType.Pkcs12), password: null);
            }
        }
        catch (Exception e) when (e is CryptographicException or IOException or UnauthorizedAccessException or ArgumentException)
        {
            throw new ServerException(
                options.KeyPath is { } path
                    ? $"The certificate '{options.CertificatePath}' with the key '{path}' cannot be used: {e.Message}"
                    : $"The certificate '{options.CertificatePath}' cannot be used: {e.Message} If its key is in another file, name that with --tls-key.",
                e);
        }

        // Only the given certificates of authorities are sent. Fetching others from the network would block a worker.
        return (Describe(options, SslStreamCertificateContext.Create(certificate, chain, offline: true)), digest);
    }

    private static SslServerAuthenticationOptions Describe(TlsOptions options, SslStreamCertificateContext certificate)
    {
        ClientCertificateMode mode = options.ClientCertificates;
        return new SslServerAuthenticationOptions
        {
            ServerCertificateContext = certificate,
#pragma warning disable CA5398 // 1.2 and later is promised, even if the system's default includes older versions.
            EnabledSslProtocols = SslProtocols.Tls12 | SslProtocols.Tls13,
#pragma warning restore CA5398
            AllowRenegotiation = false,
            ClientCertificateRequired = mode != ClientCertificateMode.None,
            CertificateRevocationCheckMode = X509RevocationMode.NoCheck, // A check would contact other machines.
            CertificateChainPolicy = mode == ClientCertificateMode.None ? null : ClientPolicy(options),
            RemoteCertificateValidationCallback = (_, client, _, errors) =>
                mode == ClientCertificateMode.None || errors == SslPolicyErrors.None ||
                (mode == ClientCertificateMode.Optional && client is null),
        };
    }

    private static X509ChainPolicy ClientPolicy(TlsOptions options)
    {
        var policy = new X509ChainPolicy
        {
            RevocationMode = X509RevocationMode.NoCheck,
            DisableCertificateDownloads = true,
        };
        policy.ApplicationPolicy.Add(new Oid(ClientAuthentication));
        if (options.ClientAuthoritiesPath is { } path)
        {
            policy.TrustMode = X509ChainTrustMode.CustomRootTrust;
            try
            {
                policy.CustomTrustStore.ImportFromPemFile(path);
            }
            catch (Exception e) when (e is CryptographicException or IOException or UnauthorizedAccessException)
            {
                throw new ServerException($"The authorities '{path}' of clients' certificates cannot be used: {e.Message}", e);
            }

            if (policy.CustomTrustStore.Count == 0)
            {
                throw new ServerException($"The file '{path}' holds no certificate of an authority.");
            }
        }

        return policy;
    }

    private static byte[] DigestOf(TlsOptions options)
    {
        using var digest = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        foreach (string? path in (string?[])[options.CertificatePath, options.KeyPath, options.ClientAuthoritiesPath])
        {
            try
            {
                digest.AppendData(path is null ? [] : ShortFile.ReadBytes(path));
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                throw new ServerException($"The file '{path}' cannot be read: {e.Message}", e);
            }
        }

        return digest.GetHashAndReset();
    }
}
