using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Cairn.Clients.Connections;

namespace Cairn.Clients.Nodes;

/// <summary>Establishes connections: socket, TLS, authentication, protocol version and database.</summary>
internal abstract class ConnectionFactory(ConnectionOptions options)
{
    /// <summary>The longest time that a request takes while logging in. The token of <see cref="LogInAsync"/> ends it sooner.</summary>
    protected static readonly TimeSpan LongestRequest = TimeSpan.FromHours(1);

    public ConnectionOptions Options => options;

    /// <summary>Connects to a server within the connect time-out.</summary>
    /// <remarks>Throws the client's exception for a missing connection. The message says what failed.</remarks>
    public async Task<(ServerConnection Connection, NodeStatus Status)> ConnectAsync(
        EndPoint place, PushReader? onPush, CancellationToken cancellationToken)
    {
        string name = NameOf(place);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        end.CancelAfter(options.ConnectTimeout);
        Stream? stream = null;
        ServerConnection? connection = null;
        try
        {
            stream = await OpenAsync(place, end.Token).ConfigureAwait(false);
            connection = ServerConnection.Start(stream, NewFormat(), options, name, onPush);
            NodeStatus status = await LogInAsync(connection, end.Token).ConfigureAwait(false);
            return (connection, status);
        }
        catch (Exception failure)
        {
            if (connection is not null)
            {
                await connection.DisposeAsync().ConfigureAwait(false);
            }
            else if (stream is not null)
            {
                await stream.DisposeAsync().ConfigureAwait(false);
            }

            cancellationToken.ThrowIfCancellationRequested();
            throw options.Errors.NoConnection(
                failure switch
                {
                    OperationCanceledException => string.Create(
                        CultureInfo.InvariantCulture, $"No connection to {name} within {options.ConnectTimeout.TotalMilliseconds:0} ms."),
                    AuthenticationException => $"No connection to {name}: TLS failed: {failure.Message}",
                    { InnerException: EndOfStreamException } when !options.UseTls =>
                        $"No connection to {name}: it closed the connection while logging in. A server that expects TLS does this.",
                    _ => $"No connection to {name}: {ReasonOf(failure)}",
                },
                failure);
        }
    }

    /// <summary>Returns the name of a server in messages and logs.</summary>
    public static string NameOf(EndPoint place) => place switch
    {
        DnsEndPoint dns => string.Create(CultureInfo.InvariantCulture, $"{dns.Host}:{dns.Port}"),
        _ => place.ToString() ?? "",
    };

    private static SocketException? FirstFailure(SocketException? first, SocketException next) => first ?? next;

    private async Task<Stream> OpenAsync(EndPoint place, CancellationToken cancellationToken)
    {
        Socket socket = await ConnectSocketAsync(place, cancellationToken).ConfigureAwait(false);
        Stream stream = new NetworkStream(socket, ownsSocket: true);
        if (!options.UseTls)
        {
            return stream;
        }

        var tls = new SslStream(stream);
        try
        {
            await tls.AuthenticateAsClientAsync(TlsOptions(place), cancellationToken).ConfigureAwait(false);
            return tls;
        }
        catch
        {
            await tls.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    private static async Task<Socket> ConnectSocketAsync(EndPoint place, CancellationToken cancellationToken)
    {
        if (place is UnixDomainSocketEndPoint)
        {
            return await TryAsync(AddressFamily.Unix, ProtocolType.Unspecified, place, cancellationToken).ConfigureAwait(false);
        }

        if (place is not DnsEndPoint dns)
        {
            return await TryAsync(place.AddressFamily, ProtocolType.Tcp, place, cancellationToken).ConfigureAwait(false);
        }

        SocketException? failure = null;
        foreach (IPAddress address in await Dns.GetHostAddressesAsync(dns.Host, cancellationToken).ConfigureAwait(false))
        {
            try
            {
                return await TryAsync(address.AddressFamily, ProtocolType.Tcp, new IPEndPoint(address, dns.Port), cancellationToken).ConfigureAwait(false);
            }
            catch (SocketException next)
            {
                failure = FirstFailure(failure, next);
            }
        }

        throw failure ?? new SocketException((int)SocketError.HostNotFound);

        static async Task<Socket> TryAsync(AddressFamily family, ProtocolType protocol, EndPoint place, CancellationToken cancellationToken)
        {
            var socket = new Socket(family, SocketType.Stream, protocol);
            try
            {
                if (protocol == ProtocolType.Tcp)
                {
                    socket.NoDelay = true;
                    socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
                }

                await socket.ConnectAsync(place, cancellationToken).ConfigureAwait(false);
                return socket;
            }
            catch
            {
                socket.Dispose();
                throw;
            }
        }
    }

    private SslClientAuthenticationOptions TlsOptions(EndPoint place)
    {
        var tls = new SslClientAuthenticationOptions
        {
            TargetHost = options.TlsHost ?? place switch
            {
                DnsEndPoint dns => dns.Host,
                IPEndPoint ip => ip.Address.ToString(),
                _ => "localhost",
            },
        };
        if (options.TlsAuthorityPath is { } path)
        {
            var policy = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck };
            policy.CustomTrustStore.ImportFromPemFile(path);
            tls.CertificateChainPolicy = policy;
        }

        if (options.TlsCertificate is { } certificate)
        {
            tls.ClientCertificates = [certificate];
        }

        return tls;
    }

    protected abstract WireFormat NewFormat();

    /// <summary>Authenticates the connection, and returns what kind of server it is.</summary>
    /// <param name="connection">The connection.</param>
    /// <param name="cancellationToken">Ends with the connect time-out, so the requests need no time-out of their own.</param>
    protected abstract Task<NodeStatus> LogInAsync(ServerConnection connection, CancellationToken cancellationToken);

    /// <summary>Returns the reason of a failure for the message.</summary>
    protected virtual string ReasonOf(Exception failure) => failure.Message;
}
