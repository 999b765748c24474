using System.Security.Cryptography.X509Certificates;

namespace Cairn.Clients.Connections;

/// <summary>The settings and limits of a connection. The options of the clients document the values and check their ranges.</summary>
internal sealed record ConnectionOptions
{
    /// <summary>The default of <see cref="SilenceLimit"/>: more than a slow request takes.</summary>
    public static readonly TimeSpan DefaultSilenceLimit = TimeSpan.FromSeconds(15);

    /// <summary>The default of <see cref="MinReconnectDelay"/>.</summary>
    public static readonly TimeSpan DefaultMinReconnectDelay = TimeSpan.FromMilliseconds(20);

    /// <summary>The default of <see cref="MaxReconnectDelay"/>.</summary>
    public static readonly TimeSpan DefaultMaxReconnectDelay = TimeSpan.FromSeconds(2);

    /// <summary>The default of <see cref="MaxPendingCalls"/>.</summary>
    public const int DefaultMaxPendingCalls = 10_000;

    /// <summary>The default of <see cref="MaxUnsentBytes"/>.</summary>
    public const int DefaultMaxUnsentBytes = 16 << 20;

    /// <summary>Gets the client's type, which an <see cref="ObjectDisposedException"/> names.</summary>
    public required Type Owner { get; init; }

    public required ClientErrors Errors { get; init; }

    /// <summary>Gets the time limit for establishing a connection, including TLS and authentication.</summary>
    public required TimeSpan ConnectTimeout { get; init; }

    /// <summary>Gets how long a server may send nothing while replies are due.</summary>
    public TimeSpan SilenceLimit { get; init; } = DefaultSilenceLimit;

    /// <summary>Gets the shortest delay after a failed connection attempt. It doubles with each failure.</summary>
    public TimeSpan MinReconnectDelay { get; init; } = DefaultMinReconnectDelay;

    /// <summary>Gets the longest delay after a failed connection attempt.</summary>
    public TimeSpan MaxReconnectDelay { get; init; } = DefaultMaxReconnectDelay;

    /// <summary>Gets the number of calls that may wait for their replies; further calls wait for room.</summary>
    public int MaxPendingCalls { get; init; } = DefaultMaxPendingCalls;

    /// <summary>Gets the number of request bytes that may wait to be sent; further calls wait for room.</summary>
    public int MaxUnsentBytes { get; init; } = DefaultMaxUnsentBytes;

    /// <summary>Gets whether the connection is encrypted.</summary>
    public bool UseTls { get; init; }

    /// <summary>Gets the host name that the server's certificate must have; null for the host of the end point.</summary>
    public string? TlsHost { get; init; }

    /// <summary>Gets the path of a PEM file with the trusted certificate authorities; null for those of the system.</summary>
    public string? TlsAuthorityPath { get; init; }

    /// <summary>Gets the client certificate with its private key; null for none.</summary>
    public X509Certificate2? TlsCertificate { get; init; }
}
