namespace Cairn.Server;

/// <summary>Whether clients prove who they are by a certificate.</summary>
public enum ClientCertificateMode
{
    /// <summary>They are not asked.</summary>
    None = 0,

    /// <summary>They may; a certificate that does not verify ends the connection.</summary>
    Optional,

    /// <summary>They must.</summary>
    Required,
}

/// <summary>How a listener is protected by TLS, version 1.2 or later. Certificates that change on disk are taken up by new
/// connections within seconds.</summary>
public sealed record TlsOptions
{
    /// <summary>The server's certificate in PEM form, followed by those that lead to the authority that signed it.</summary>
    public required string CertificatePath { get; init; }

    /// <summary>The certificate's private key in PEM form. Default null: it is in the certificate's file.</summary>
    public string? KeyPath { get; init; }

    /// <summary>Whether clients need a certificate. Default <see cref="ClientCertificateMode.None"/>.</summary>
    public ClientCertificateMode ClientCertificates { get; init; }

    /// <summary>The authorities in PEM form that clients' certificates must lead to. Default null: those the system trusts.</summary>
    public string? ClientAuthoritiesPath { get; init; }
}
