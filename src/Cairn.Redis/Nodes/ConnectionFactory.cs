using System.Globalization;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Cairn.Redis.Connections;

namespace Cairn.Redis.Nodes;

/// <summary>Establishes connections: socket, TLS, authentication, protocol version and database.</summary>
internal class ConnectionFactory(RedisClientOptions options)
{
    private readonly string _clientName = options.ClientName ?? NameOfMachine();

    /// <summary>Connects to a server within the connect time-out.</summary>
    /// <exception cref="RedisConnectionException">The connection could not be established. The message says what failed.</exception>
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
            throw failure switch
            {
                OperationCanceledException or RedisTimeoutException => new RedisConnectionException(string.Create(
                    CultureInfo.InvariantCulture, $"No connection to {name} within {options.ConnectTimeout.TotalMilliseconds:0} ms."), failure),
                AuthenticationException => new RedisConnectionException($"No connection to {name}: TLS failed: {failure.Message}", failure),
                RedisServerException { Code: "NOAUTH" } => new RedisConnectionException(
                    $"No connection to {name}: it asks for a password, and the configuration has none.", failure),
                RedisServerException { Code: "WRONGPASS" } => new RedisConnectionException($"No connection to {name}: wrong user or password.", failure),
                RedisConnectionException { InnerException: EndOfStreamException } when !options.UseTls => new RedisConnectionException(
                    $"No connection to {name}: it closed the connection while logging in. A server that expects TLS does this.", failure),
                _ => new RedisConnectionException($"No connection to {name}: {failure.Message}", failure),
            };
        }
    }

    /// <summary>Returns the name of a server in messages and logs.</summary>
    public static string NameOf(EndPoint place) => place switch
    {
        DnsEndPoint dns => string.Create(CultureInfo.InvariantCulture, $"{dns.Host}:{dns.Port}"),
        _ => place.ToString() ?? "",
    };

    private static string NameOfMachine()
    {
        string name = new([.. Environment.MachineName.Where(letter => letter is > ' ' and <= '~')]);
        return name.Length > 0 ? name : "cairn";
    }

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

    protected virtual WireFormat NewFormat() => new RespFormat();

    /// <summary>Authenticates the connection, and returns what kind of server it is.</summary>
    protected virtual async Task<NodeStatus> LogInAsync(ServerConnection connection, CancellationToken cancellationToken)
    {
        NodeStatus? status = options.Protocol == RedisProtocol.Resp2
            ? null
            : await SayHelloAsync(connection, cancellationToken).ConfigureAwait(false);
        if (status is null)
        {
            if (options.Protocol == RedisProtocol.Resp3)
            {
                throw new RedisException("the server has no RESP3, and the configuration asks for it.");
            }

            if (options.Password is { } password)
            {
                await AskAsync(options.User is { } user ? ["AUTH", user, password] : ["AUTH", password]).ConfigureAwait(false);
            }

            status = StatusOf(await TryAskAsync("INFO").ConfigureAwait(false));
        }

        if (options.Database > 0)
        {
            await AskAsync("SELECT", options.Database).ConfigureAwait(false);
        }

        // These names only appear in CLIENT LIST, so an error is ignored.
        await TryAskAsync("CLIENT", "SETNAME", _clientName).ConfigureAwait(false);
        await TryAskAsync("CLIENT", "SETINFO", "LIB-NAME", "Cairn").ConfigureAwait(false);
        return status;

        ValueTask<RedisReply> AskAsync(params RedisArgument[] command) => connection.AskAsync(command, options.ConnectTimeout, cancellationToken);

        async ValueTask<RedisReply?> TryAskAsync(params RedisArgument[] command)
        {
            try
            {
                return await connection.AskAsync(command, options.ConnectTimeout, cancellationToken).ConfigureAwait(false);
            }
            catch (RedisServerException refusal) when (refusal.Code is not "NOAUTH")
            {
                return null;
            }
        }
    }

    // Returns null if the server has no HELLO command, or does not support RESP3.
    private async Task<NodeStatus?> SayHelloAsync(ServerConnection connection, CancellationToken cancellationToken)
    {
        RedisArgument[] hello = options.Password is { } password ? ["HELLO", 3, "AUTH", options.User ?? "default", password] : ["HELLO", 3];
        try
        {
            RedisReply reply = await connection.AskAsync(hello, options.ConnectTimeout, cancellationToken).ConfigureAwait(false);
            var told = new Dictionary<string, string>(StringComparer.Ordinal);
            for (int i = 0; i + 1 < reply.Items.Count; i += 2)
            {
                if (reply.Items[i].Text is { } name && reply.Items[i + 1].Text is { } value)
                {
                    told[name] = value;
                }
            }

            return new NodeStatus(
                IsResp3: true,
                IsCluster: string.Equals(told.GetValueOrDefault("mode"), "cluster", StringComparison.Ordinal),
                IsReplica: told.GetValueOrDefault("role") is "replica" or "slave",
                told.GetValueOrDefault("version", ""));
        }
        catch (RedisServerException refusal) when (refusal.Code is "ERR" or "NOPROTO")
        {
            return null;
        }
    }

    private static NodeStatus StatusOf(RedisReply? info)
    {
        var told = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (string line in (info?.Text ?? "").Split('\n', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
        {
            int colon = line.IndexOf(':', StringComparison.Ordinal);
            if (colon > 0)
            {
                told[line[..colon]] = line[(colon + 1)..];
            }
        }

        return new NodeStatus(
            IsResp3: false,
            IsCluster: told.GetValueOrDefault("cluster_enabled") is "1",
            IsReplica: told.GetValueOrDefault("role") is "slave" or "replica",
            told.GetValueOrDefault("redis_version", ""));
    }
}
