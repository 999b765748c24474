using Cairn.Server.Logging;
using Microsoft.Extensions.Logging;

// Clients that speak another protocol than their port, or send a wrong password. The log says what they sent and how to correct it, because
// such a client often gives no useful message. The log has no passwords.
//
// AddressLimiter limits the log to one line per minute for each address and listener.
namespace Cairn.Server.Connections;

/// <summary>Logs clients that speak another protocol than their port. Thread-safe.</summary>
internal sealed class ForeignClients(ILogger log, TimeProvider clock)
{
    private readonly AddressLimiter _limiter = new(clock);
    private readonly AddressLimiter _passwords = new(clock);

    /// <summary>Examines the first bytes of a connection. Logs them if they belong to a protocol that the listener does not
    /// speak.</summary>
    public void Look(ClientConnection connection, ReadOnlySpan<byte> bytes)
    {
        RequestForm form = FirstBytes.Recognise(bytes);
        bool isExpected = form switch
        {
            _ when connection.Spoken == SpokenProtocols.Unknown => true,
            _ when connection.IsEncrypted => FirstBytes.BeginsTls(bytes), // The rest of the handshake may be on its way.
            RequestForm.Unknown => true, // The session decides.
            RequestForm.Memcached => connection.Spoken.HasFlag(SpokenProtocols.Memcached),
            RequestForm.MemcachedBinary => connection.Spoken.HasFlag(SpokenProtocols.MemcachedBinary),
            RequestForm.Resp => connection.Spoken.HasFlag(SpokenProtocols.Resp),
            _ => false,
        };
        if (!isExpected)
        {
            Tell(connection, bytes, form, isWire: true);
        }
    }

    /// <summary>Logs the bytes that are no request of the session's protocol.</summary>
    public void Tell(ClientConnection connection, ReadOnlySpan<byte> bytes) => Tell(connection, bytes, FirstBytes.Recognise(bytes), isWire: false);

    /// <summary>Logs that a client sent a wrong user or password, and neither of them: a client may send its password as the user.</summary>
    public void TellWrongPassword(ClientConnection connection)
    {
        if (_passwords.MayTell(connection.Remote?.Address, connection.ListenerName, out long untold))
        {
            log.Write(
                LogLevel.Warning,
                $"The client {connection.RemoteText} on '{connection.ListenerName}' sent a wrong user or password. Correct its settings, or find out who guesses passwords.{Others(untold)}");
        }
    }

    private static string Others(long untold) => untold == 0 ? "" : $" ({untold} others since the last such line)";

    private void Tell(ClientConnection connection, ReadOnlySpan<byte> bytes, RequestForm form, bool isWire)
    {
        connection.IsForeign = true;
        if (!_limiter.MayTell(connection.Remote?.Address, connection.ListenerName, out long untold))
        {
            return;
        }

        (string what, string advice) = Explain(connection, form, isWire);
        log.Write(
            LogLevel.Warning,
            $"The client {connection.RemoteText} on '{connection.ListenerName}' {what}: it sent {FirstBytes.Quote(bytes, form)}. {advice}{Others(untold)}");
    }

    private static (string What, string Advice) Explain(ClientConnection connection, RequestForm form, bool isWire) => form switch
    {
        not RequestForm.Tls when isWire && connection.IsEncrypted =>
            ("does not speak TLS, which this port requires", "Let the client use TLS, or serve without --tls-certificate."),
        RequestForm.Tls =>
            ("speaks TLS, and this port does not", "Let the client connect without TLS, or give the server a certificate with --tls-certificate."),
        RequestForm.Http =>
            ("speaks HTTP, and this port does not", "The dashboard, figures and health are at the address of --http."),
        RequestForm.MemcachedBinary when !connection.Spoken.HasFlag(SpokenProtocols.MemcachedBinary) =>
            ("speaks memcached's binary protocol, and this port does not",
            "Connect the client to the port of --memcached, or let -B allow both protocols there."),
        RequestForm.MemcachedBinary =>
            ("sent a request that memcached's binary protocol does not have", "Find out which program connects to this port."),
        RequestForm.Resp when !connection.Spoken.HasFlag(SpokenProtocols.Resp) =>
            ("speaks RESP, the protocol of Redis, and this port does not",
            "Connect the client to the port of --resp, or serve both protocols on one port with --both."),
        RequestForm.Memcached when connection.Spoken == SpokenProtocols.MemcachedBinary =>
            ("speaks memcached's text protocol, and this port does not", "Set the client to the binary protocol, or let -B allow both."),
        RequestForm.Memcached when !connection.Spoken.HasFlag(SpokenProtocols.Memcached) =>
            ("speaks memcached's protocol, and this port does not",
            "Connect the client to the port of --memcached, or serve both protocols on one port with --both."),
        _ => ("broke the protocol of this port", "Find out which program connects to this port."),
    };
}
