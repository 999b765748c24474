namespace Cairn.Server;

/// <summary>Whether clients authenticate with a certificate.</summary>
public enum ClientCertificateMode
{
    /// <summary>The server does not ask for a certificate.</summary>
    None = 0,

    /// <summary>A client may send a certificate. If its verification fails, the connection is closed.</summary>
    Optional,

    /// <summary>A client must send a certificate that verifies.</summary>
    Required,
}

/// <summary>The TLS settings of a listener. The version is 1.2 or later. New connections use changed certificate files within
/// seconds.</summary>
public sealed record TlsOptions
{
    /// <summary>Gets the path of a PEM file with the server's certificate, followed by the intermediate certificates.</summary>
    public required string CertificatePath { get; init; }

    /// <summary>Gets the path of a PEM file with the certificate's private key. Default null: the key is in the certificate's
    /// file.</summary>
    public string? KeyPath { get; init; }

    /// <summary>Gets whether clients need a certificate. Default <see cref="ClientCertificateMode.None"/>.</summary>
    public ClientCertificateMode ClientCertificates { get; init; }

    /// <summary>Gets the path of a PEM file with the authorities that clients' certificates must lead to. Default null: the authorities
    /// that the system trusts.</summary>
    public string? ClientAuthoritiesPath { get; init; }
}
