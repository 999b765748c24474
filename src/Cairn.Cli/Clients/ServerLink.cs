using System.ComponentModel;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Cairn.Protocol;

namespace Cairn.Cli.Clients;

/// <summary>An authenticated connection to a server, for one request at a time.</summary>
internal sealed class ServerLink : IDisposable
{
    private const int BufferBytes = 16 << 10;
    private const int MaxLineBytes = 1 << 20;

    /// <summary>The time limit for a server's answer.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    /// <summary>The shorter time limit for a request that only some servers answer.</summary>
    private static readonly TimeSpan PatienceWithStrangers = TimeSpan.FromSeconds(2);

    private readonly ServerAddress _address;
    private readonly RespReplyScanner _scanner = new();
    private readonly Stream _stream;
    private byte[] _input = new byte[BufferBytes];
    private int _inputStart;
    private int _inputEnd;

    private ServerLink(ServerAddress address, Socket socket, Stream stream)
    {
        _address = address;
        Socket = socket;
        _stream = stream;
    }

    public Socket Socket { get; }

    /// <summary>Gets the TLS stream; null without TLS. Its inner stream is <see cref="Inner"/>.</summary>
    public SslStream? Tls => _stream as SslStream;

    public required SocketStream Inner { get; init; }

    public ServerProtocol Protocol { get; private set; }

    /// <summary>Gets the server's own name and version, such as "memcached 1.6.18".</summary>
    public string ServerName { get; private set; } = "";

    /// <summary>Connects, detects the protocol and logs in.</summary>
    /// <exception cref="ToolException">The server cannot be reached, rejects the login, or speaks no known protocol.</exception>
    public static ServerLink Open(ServerTarget target)
    {
        ServerLink? link = null;
        try
        {
            link = Connect(target, target.Protocol is null ? PatienceWithStrangers : Patience);
            if (target.Protocol == ServerProtocol.Resp)
            {
                link.BeginResp(target);
            }
            else if (!link.TryBeginMemcached(target))
            {
                // Redis parses the request and answers that the command is unknown. Other servers may close the connection.
                bool isResp = link._inputEnd > link._inputStart && link._input[link._inputStart] == '-';
                link.Dispose();
                link = Connect(target, isResp ? Patience : PatienceWithStrangers);
                link.BeginResp(target);
            }

            link.Socket.ReceiveTimeout = (int)Patience.TotalMilliseconds;
            return link;
        }
        catch (Exception failure) when (IsConnectionFailure(failure))
        {
            link?.Dispose();
            throw Unreachable(target.Address, failure, target.IsDefault ? "; name a server (ADDRESS) or a store (--store FILE)" : "");
        }
        catch
        {
            link?.Dispose();
            throw;
        }
    }

    /// <summary>Returns whether an exception is a failure of the connection.</summary>
    public static bool IsConnectionFailure(Exception failure) =>
        failure is SocketException or IOException or AuthenticationException or EndOfStreamException;

    /// <summary>Returns the error for a server that cannot be reached.</summary>
    public static ToolException Unreachable(ServerAddress address, Exception failure, string advice = "")
    {
        Exception innermost = failure.GetBaseException();
        string reason = innermost is SocketException socket ? Reason(socket) : innermost.Message;
        return new ToolException(ExitCode.Server, $"{address} cannot be reached: {reason}{advice}", failure);
    }

    /// <summary>Describes a socket error in a few words.</summary>
    public static string Reason(SocketException failure) => failure.SocketErrorCode switch
    {
        SocketError.ConnectionRefused => "nothing listens there",
        SocketError.TimedOut or SocketError.WouldBlock => "no answer in time; a server with TLS needs --tls",
        SocketError.ConnectionReset => "the server closed the connection",
        SocketError.AddressNotAvailable => "there is no such socket",
        _ => new Win32Exception(failure.NativeErrorCode).Message,
    };

    /// <summary>Requests the statistics of memcached.</summary>
    public List<KeyValuePair<string, string>> AskStatistics()
    {
        Send("stats\r\n"u8);
        var statistics = new List<KeyValuePair<string, string>>();
        while (true)
        {
            string line = ReadLine();
            string[] words = line.Split(' ', 3);
            if (words is not ["STAT", var name, ..])
            {
                return line == "END" ? statistics : throw Refused(line);
            }

            statistics.Add(new KeyValuePair<string, string>(name, words.Length > 2 ? words[2] : ""));
        }
    }

    /// <summary>Sends a RESP command.</summary>
    /// <returns>The bytes of the reply, for <see cref="RespReplyReader"/>; valid until the next request.</returns>
    public ReadOnlySpan<byte> Ask(params ReadOnlySpan<string> words)
    {
        var request = new MemoryStream();
        Append(request, [.. words.ToArray().Select(Encoding.UTF8.GetBytes)]);
        Send(request.GetBuffer().AsSpan(0, (int)request.Length));
        return ReadReply();
    }

    /// <summary>Throws unless the server speaks RESP.</summary>
    /// <param name="what">What only such a server can do.</param>
    public void RequireResp(string what)
    {
        if (Protocol != ServerProtocol.Resp)
        {
            throw new ToolException(ExitCode.Server, $"{_address} ({ServerName}) speaks memcached's protocol, and the tool cannot {what} over it; name the port of Redis' protocol");
        }
    }

    /// <summary>Sends a RESP command and returns the bytes of its reply; null for a null.</summary>
    public byte[]? AskBytes(params ReadOnlySpan<byte[]> words)
    {
        SendAll([words.ToArray()]);
        ReadOnlySpan<byte> reply = ReadReply();
        ThrowIfError(reply, $"refuses {Encoding.UTF8.GetString(words[0])}");
        var reader = new RespReplyReader(reply);
        return reader.Read() && !reader.IsNull ? reader.Value.ToArray() : null;
    }

    /// <summary>Reads the next reply as a number; null for a null.</summary>
    /// <param name="command">The command that was sent, for the error.</param>
    public long? ReadNumber(string command)
    {
        ReadOnlySpan<byte> reply = ReadReply();
        ThrowIfError(reply, $"refuses {command}");
        var reader = new RespReplyReader(reply);
        return reader.Read() && reader.TryGetInt64(out long number) ? number : null;
    }

    /// <summary>Sends RESP commands together. <see cref="ReadReply"/> then returns a reply for each.</summary>
    public void SendAll(IEnumerable<byte[][]> commands)
    {
        var request = new MemoryStream();
        foreach (byte[][] words in commands)
        {
            Append(request, words);
        }

        Send(request.GetBuffer().AsSpan(0, (int)request.Length));
    }

    /// <summary>Sends a request that a server answers with lines without end, and returns them until <paramref name="end"/> is cancelled.</summary>
    /// <exception cref="ToolException">The server refuses.</exception>
    /// <exception cref="IOException">The connection ended before that. <see cref="IsConnectionFailure"/> has the other types.</exception>
    public IEnumerable<string> Follow(string request, CancellationToken end)
    {
        Send(Encoding.ASCII.GetBytes(request + "\r\n"));
        string answer = ReadLine();
        if (answer is not ("OK" or "+OK"))
        {
            throw Refused(answer);
        }

        Socket.ReceiveTimeout = 0;
        using CancellationTokenRegistration stop = end.Register(() => Socket.Shutdown(SocketShutdown.Both));
        while (TryReadLine(end, out string line))
        {
            yield return line;
        }
    }

    private bool TryReadLine(CancellationToken end, out string line)
    {
        try
        {
            line = ReadLine(cutsLong: true);
            return true;
        }
        catch (Exception failure) when (IsConnectionFailure(failure) && end.IsCancellationRequested)
        {
            line = "";
            return false;
        }
    }

    /// <summary>Waits for the next reply.</summary>
    /// <returns>The bytes of the reply; valid until the next one is read.</returns>
    public ReadOnlySpan<byte> ReadReply()
    {
        _scanner.Reset();
        while (true)
        {
            switch (_scanner.TryScan(Input, out int bytes))
            {
                case ParseStatus.Complete:
                    ReadOnlySpan<byte> reply = _input.AsSpan(_inputStart, bytes);
                    _inputStart += bytes;
                    return reply;
                case ParseStatus.Fatal:
                    throw NotUnderstood();
                default:
                    Receive();
                    break;
            }
        }
    }

    private static void Append(MemoryStream request, byte[][] words)
    {
        request.Write(Encoding.UTF8.GetBytes($"*{words.Length}\r\n"));
        foreach (byte[] word in words)
        {
            request.Write(Encoding.UTF8.GetBytes($"${word.Length}\r\n"));
            request.Write(word);
            request.Write("\r\n"u8);
        }
    }

    public void Dispose()
    {
        _stream.Dispose();
        Socket.Dispose();
    }

    private static ServerLink Connect(ServerTarget target, TimeSpan patience)
    {
        SocketException? last = null;
        foreach (EndPoint place in target.Address.Resolve())
        {
            var socket = new Socket(
                place.AddressFamily, SocketType.Stream, place is UnixDomainSocketEndPoint ? ProtocolType.Unspecified : ProtocolType.Tcp);
            try
            {
                socket.ReceiveTimeout = (int)patience.TotalMilliseconds;
                socket.SendTimeout = (int)Patience.TotalMilliseconds;
                socket.Connect(place);
                if (socket.ProtocolType == ProtocolType.Tcp)
                {
                    socket.NoDelay = true;
                }

                var inner = new SocketStream(socket);
                return new ServerLink(target.Address, socket, target.Tls is { } tls ? Secure(inner, tls) : inner) { Inner = inner };
            }
            catch (SocketException failure)
            {
                last = failure;
                socket.Dispose();
            }
            catch
            {
                socket.Dispose();
                throw;
            }
        }

        throw last ?? new SocketException((int)SocketError.HostNotFound);
    }

    private static SslStream Secure(SocketStream inner, SslClientAuthenticationOptions options)
    {
        var stream = new SslStream(inner);
        stream.AuthenticateAsClient(options);
        return stream;
    }

    // Returns false if the server does not speak memcached's protocol. Its answer stays in the input buffer.
    private bool TryBeginMemcached(ServerTarget target)
    {
        string answer;
        try
        {
            if (target.Password is { } password && target.Protocol is not null)
            {
                LogInToMemcached(target.User, password);
            }

            Send("version\r\n"u8);
            answer = PeekLine();
        }
        catch (Exception failure) when (IsConnectionFailure(failure) && target.Protocol is null)
        {
            return false;
        }

        const string Version = "VERSION ";
        if (answer.StartsWith("CLIENT_ERROR unauthenticated", StringComparison.Ordinal))
        {
            _ = ReadLine();
            if (target.Password is not { } password)
            {
                throw new ToolException(ExitCode.Server, $"{_address} requires a login: give --user and --password");
            }

            LogInToMemcached(target.User, password);
            Send("version\r\n"u8);
            answer = PeekLine();
        }

        if (!answer.StartsWith(Version, StringComparison.Ordinal))
        {
            return target.Protocol is null ? false : throw NotUnderstood();
        }

        _ = ReadLine();
        ServerName = $"memcached {answer[Version.Length..]}";
        Protocol = target.Protocol ?? ServerProtocol.Memcached;
        if (Protocol == ServerProtocol.Meta)
        {
            Send("mn\r\n"u8);
            if (ReadLine() != "MN")
            {
                throw new ToolException(ExitCode.Server, $"{_address} ({ServerName}) does not know the meta commands");
            }
        }

        return true;
    }

    private void LogInToMemcached(string? user, string password)
    {
        byte[] words = Encoding.UTF8.GetBytes($"{user} {password}");
        Send([.. Encoding.UTF8.GetBytes($"set auth 0 0 {words.Length}\r\n"), .. words, .. "\r\n"u8]);
        string answer = ReadLine();
        if (answer != "STORED")
        {
            throw new ToolException(ExitCode.Server, $"{_address} does not accept this user and password: {answer}");
        }
    }

    private void BeginResp(ServerTarget target)
    {
        if (target.Password is { } password)
        {
            ReadOnlySpan<string> words = target.User is { } user ? ["AUTH", user, password] : ["AUTH", password];
            ThrowIfError(Ask(words), "does not accept this user and password");
        }

        Protocol = ServerProtocol.Resp;
        ReadOnlySpan<byte> pong = Ask("PING");
        if (pong.StartsWith("-NOAUTH"u8))
        {
            throw new ToolException(ExitCode.Server, $"{_address} requires a login: give --password, and --user if it has users");
        }

        ThrowIfError(pong, "refuses");
        ServerName = NameFrom(Ask("HELLO"));
    }

    // Reads a map of names and values in the form of RESP2: an array of alternating names and values.
    private static string NameFrom(ReadOnlySpan<byte> hello)
    {
        string? server = null;
        string? version = null;
        var reader = new RespReplyReader(hello);
        if (reader.Read() && !reader.IsError)
        {
            while (reader.Read())
            {
                bool isServer = reader.Value.SequenceEqual("server"u8);
                bool isVersion = reader.Value.SequenceEqual("version"u8);
                if ((isServer || isVersion) && reader.Read())
                {
                    string text = Encoding.UTF8.GetString(reader.Value);
                    server = isServer ? text : server;
                    version = isVersion ? text : version;
                }
            }
        }

        return server is null ? "a RESP server" : $"{server} {version}".TrimEnd();
    }

    /// <summary>Throws if a reply is an error.</summary>
    public void ThrowIfError(ReadOnlySpan<byte> reply, string what)
    {
        var reader = new RespReplyReader(reply);
        if (reader.Read() && reader.IsError)
        {
            throw new ToolException(ExitCode.Server, $"{_address} {what}: {Encoding.UTF8.GetString(reader.Value)}");
        }
    }

    private ToolException Refused(string answer) => new(ExitCode.Server, $"{_address} refuses: {answer}");

    private ToolException NotUnderstood() =>
        new(ExitCode.Server, $"{_address} speaks neither RESP nor memcached's text protocol, or not the one that --protocol names");

    private void Send(ReadOnlySpan<byte> bytes) => _stream.Write(bytes);

    // If long lines are cut, the rest of such a line is skipped: MONITOR repeats the values of commands. Otherwise such a line is an error.
    private string ReadLine(bool cutsLong = false)
    {
        string line = PeekLine(cutsLong);
        int rest;
        while ((rest = Input.IndexOf((byte)'\n')) < 0)
        {
            _inputStart = _inputEnd;
            Receive();
        }

        _inputStart += rest + 1;
        return line;
    }

    private string PeekLine(bool cutsLong = false)
    {
        int end;
        while ((end = Input.IndexOf((byte)'\n')) < 0 && Input.Length < MaxLineBytes)
        {
            Receive();
        }

        return end >= 0 || cutsLong ? Encoding.UTF8.GetString(end < 0 ? Input : Input[..end]).TrimEnd('\r') : throw NotUnderstood();
    }

    private ReadOnlySpan<byte> Input => _input.AsSpan(_inputStart, _inputEnd - _inputStart);

    private void Receive()
    {
        if (_inputStart == _inputEnd)
        {
            _inputStart = _inputEnd = 0;
        }
        else if (_inputEnd == _input.Length)
        {
            if (_inputStart == 0)
            {
                Array.Resize(ref _input, _input.Length * 2);
            }

            Input.CopyTo(_input);
            _inputEnd -= _inputStart;
            _inputStart = 0;
        }

        int count = _stream.Read(_input, _inputEnd, _input.Length - _inputEnd);
        if (count == 0)
        {
            throw new EndOfStreamException("the server closed the connection");
        }

        _inputEnd += count;
    }
}
