using Cairn.Server.Buffers;
using Cairn.Server.Connections;

namespace Cairn.Server.Memcached;

// Commands that are not about a key: statistics, flush, version, quit, and authentication with the mechanism PLAIN (RFC 4616).
internal sealed unsafe partial class BinarySession
{
    // memcached's own limit.
    private const int MaxMechanismBytes = 32;
    private const int MaxAuthenticationBytes = 2048;

    private bool _isAuthenticated;
    private bool _isSaslStarted;

    private static bool IsAllowedWithoutUser(MemcachedCommand command) => command is MemcachedCommand.SaslList or MemcachedCommand.SaslAuth
        or MemcachedCommand.SaslStep or MemcachedCommand.Version;

    private bool Manage(ReadOnlySpan<byte> input, in MemcachedBinaryRequest request, OutputBuffer output)
    {
        switch (request.Command)
        {
            case MemcachedCommand.Stats:
                return Stats(request, request.Key.Of(input), output);

            case MemcachedCommand.FlushAll when _entries.TryFlushAll(request.ExpirationSeconds):
                WriteSuccess(request, 0, output);
                break;

            case MemcachedCommand.FlushAll:
                WriteError(request, MemcachedStatus.AuthenticationError, output);
                break;

            case MemcachedCommand.Version:
                WriteReply(request, MemcachedStatus.Success, Encoding.ASCII.GetBytes(_sessions.Options.Version), output);
                break;

            case MemcachedCommand.Verbosity:
                _sessions.Verbosity = (int)Math.Min(request.Delta, int.MaxValue);
                WriteSuccess(request, 0, output);
                break;

            case MemcachedCommand.Quit:
                WriteSuccess(request, 0, output);
                IsEnded = true;
                _connection?.Close(CloseReason.ClosedBySession);
                break;

            case MemcachedCommand.SaslList or MemcachedCommand.SaslAuth or MemcachedCommand.SaslStep:
                Authenticate(input, request, output);
                break;

            default: // noop
                WriteSuccess(request, 0, output);
                break;
        }

        return true;
    }

    // One reply for each figure, and one without a name at the end.
    private bool Stats(in MemcachedBinaryRequest request, ReadOnlySpan<byte> group, OutputBuffer output)
    {
        if (MustAwaitMemory(_connection, _sessions.Statistics.LengthOf(group)))
        {
            return false;
        }

        if (group.StartsWith("reset"u8))
        {
            _sessions.Statistics.Reset();
        }
        else if (group.StartsWith("detail on"u8) || group.StartsWith("detail off"u8))
        {
            _sessions.Prefixes.IsOn = group.StartsWith("detail on"u8);
        }
        else if (group.StartsWith("detail dump"u8))
        {
            WriteFigure(request, "detailed"u8, [.. _sessions.Prefixes.Dump(), .. "END\r\n"u8], output);
        }
        else if (_sessions.Statistics.Of(group, _connection) is { } figures)
        {
            foreach ((string name, string value) in figures)
            {
                WriteFigure(request, Encoding.UTF8.GetBytes(name), Encoding.UTF8.GetBytes(value), output);
            }
        }
        else
        {
            WriteError(request, MemcachedStatus.NotFound, output);
            return true;
        }

        WriteFigure(request, [], [], output);
        return true;
    }

    private static void WriteFigure(in MemcachedBinaryRequest request, ReadOnlySpan<byte> name, ReadOnlySpan<byte> value, OutputBuffer output)
    {
        int bytes = name.Length + value.Length;
        Span<byte> room = output.Reserve(MemcachedBinary.HeaderBytes + bytes);
        MemcachedBinary.WriteHeader(room, request, MemcachedStatus.Success, new MemcachedBody(0, name.Length, bytes), 0);
        name.CopyTo(room[MemcachedBinary.HeaderBytes..]);
        value.CopyTo(room[(MemcachedBinary.HeaderBytes + name.Length)..]);
        output.Advance(MemcachedBinary.HeaderBytes + bytes);
    }

    private MemcachedStatus SaslRefusalOf(in MemcachedBinaryRequest request)
    {
        if (_sessions.Options.Credentials is null)
        {
            return MemcachedStatus.UnknownCommand;
        }

        return request.Key.Length > MaxMechanismBytes ? MemcachedStatus.InvalidArguments
            : request.Value.Length > MaxAuthenticationBytes ? MemcachedStatus.OutOfMemory
            : MemcachedStatus.Success;
    }

    private void Authenticate(ReadOnlySpan<byte> input, in MemcachedBinaryRequest request, OutputBuffer output)
    {
        if (SaslRefusalOf(request) is var refusal and not MemcachedStatus.Success)
        {
            WriteError(request, refusal, output);
            return;
        }

        _isAuthenticated = false;
        if (request.Command == MemcachedCommand.SaslList)
        {
            WriteReply(request, MemcachedStatus.Success, "PLAIN"u8, output);
            return;
        }

        ReadOnlySpan<byte> message = request.Value.Of(input);
        bool isPlain = request.Command == MemcachedCommand.SaslStep ? _isSaslStarted : request.Key.Of(input).SequenceEqual("PLAIN"u8);
        if (isPlain && request.Command == MemcachedCommand.SaslAuth && message.IsEmpty)
        {
            _isSaslStarted = true; // The client sends its message in the next step.
            WriteReply(request, MemcachedStatus.AuthenticationContinues, [], output);
            return;
        }

        _isSaslStarted = false;
        _isAuthenticated = _sessions.Authenticate(UserOf(isPlain ? message : [], out ReadOnlySpan<byte> password), password, _entries.Counters, _connection);
        if (_isAuthenticated)
        {
            WriteReply(request, MemcachedStatus.Success, "Authenticated"u8, output);
        }
        else
        {
            WriteError(request, MemcachedStatus.AuthenticationError, output);
        }
    }

    // The message is [identity] NUL user NUL password. The identity is not used.
    private static ReadOnlySpan<byte> UserOf(ReadOnlySpan<byte> message, out ReadOnlySpan<byte> password)
    {
        password = [];
        int first = message.IndexOf((byte)0);
        ReadOnlySpan<byte> user = first < 0 ? [] : message[(first + 1)..];
        int second = user.IndexOf((byte)0);
        if (second < 0)
        {
            return [];
        }

        password = user[(second + 1)..];
        return user[..second];
    }
}
