using Cairn.Server.Buffers;
using Cairn.Server.Metrics;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

// Commands that are not about a key: flush_all, version, verbosity, quit, and memcached's internal switches.
internal sealed unsafe partial class TextSession
{
    private const int MaxAuthenticationBytes = 2048;
    private const int LeastMemlimitMegabytes = 8;
    private const int MostMemlimitMegabytes = 1_000_000_000;

    private KeyListing _listing;

    private bool DispatchManagement(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        switch (request.Command)
        {
            case MemcachedCommand.MetaNoop:
                output.Write("MN\r\n"u8);
                return true;

            case MemcachedCommand.FlushAll:
                FlushAll(request, output);
                return true;

            case MemcachedCommand.Version:
                output.Write("VERSION "u8);
                output.Write(Encoding.ASCII.GetBytes(_sessions.Options.Version));
                output.Write("\r\n"u8);
                return true;

            case MemcachedCommand.Verbosity:
                _sessions.Verbosity = (int)Math.Min(request.Delta, int.MaxValue);
                Reply(request, output, "OK\r\n"u8);
                return true;

            case MemcachedCommand.CacheMemlimit:
                // The store's size is that of its file. The command is accepted without effect.
                Reply(
                    request,
                    output,
                    request.Delta < LeastMemlimitMegabytes ? "MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m\r\n"u8
                    : request.Delta > MostMemlimitMegabytes ? "MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes\r\n"u8
                    : "OK\r\n"u8);
                return true;

            case MemcachedCommand.Quit:
                End();
                return true;

            case MemcachedCommand.Shutdown:
                Shutdown(input, request, output);
                return true;

            case MemcachedCommand.Stats:
                return Stats(input, request, output);

            case MemcachedCommand.LruCrawler:
                return LruCrawler(input, request, output);

            case MemcachedCommand.Lru:
                ReplyToTuning(request, _sessions.Tuning.Lru(MemcachedTuning.WordsOf(input, request)), output);
                return true;

            case MemcachedCommand.Slabs:
                ReplyToTuning(request, _sessions.Tuning.Slabs(MemcachedTuning.WordsOf(input, request)), output);
                return true;

            case MemcachedCommand.Watch:
                Watch(input, request, output);
                return true;

            case MemcachedCommand.RefreshCerts:
                output.Write("Error TLS not enabled\r\n"u8);
                return true;

            default:
                output.Write(ErrorText(MemcachedError.UnknownCommand));
                return true;
        }
    }

    private void FlushAll(in MemcachedRequest request, OutputBuffer output)
    {
        if (_entries.TryFlushAll(request.ExpirationSeconds))
        {
            Reply(request, output, "OK\r\n"u8);
            return;
        }

        _recorder.CountError(RequestRecorder.Memcached + (int)_command);
        Reply(request, output, "CLIENT_ERROR flush_all not allowed\r\n"u8);
    }

    private void ReplyToTuning(in MemcachedRequest request, ReadOnlySpan<byte> reply, OutputBuffer output)
    {
        if (!reply.SequenceEqual("OK\r\n"u8))
        {
            _recorder.CountError(RequestRecorder.Memcached + (int)_command);
        }

        Reply(request, output, reply);
    }

    // The connection only receives from now on.
    private void Watch(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        if (!_sessions.Options.AllowWatch || _connection is null)
        {
            _recorder.CountError(RequestRecorder.Memcached + (int)_command);
            output.Write("CLIENT_ERROR watch commands not allowed\r\n"u8);
            return;
        }

        WatchKinds kinds = request.ArgumentCount == 0 ? WatchKinds.Fetchers : WatchKinds.None;
        foreach (ReadOnlySpan<byte> name in request.EnumerateArguments(input))
        {
            WatchKinds kind = WatchLog.KindOf(name);
            if (kind == WatchKinds.None)
            {
                output.Write(ErrorText(MemcachedError.UnknownCommand));
                return;
            }

            kinds |= kind;
        }

        var watcher = new WatchSession(_sessions, _connection, kinds);
        if (_sessions.Watch.TryAdd(watcher))
        {
            output.Write("OK\r\n"u8); // The first line of the log follows in another turn.
            _connection.Session = watcher;
            _isReplaced = true;
        }
        else
        {
            output.Write("WATCHER_TOO_MANY log watcher limit reached\r\n"u8);
        }
    }

    private void Shutdown(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        if (_sessions.Options.Shutdown is not { } shutdown)
        {
            output.Write("ERROR: shutdown not enabled\r\n"u8);
            return;
        }

        ReadOnlySpan<byte> how = request.Arguments.Of(input);
        if (how.IsEmpty || how.SequenceEqual("graceful"u8))
        {
            End();
            shutdown(!how.IsEmpty);
        }
        else
        {
            _recorder.CountError(RequestRecorder.Memcached + (int)_command);
            output.Write("CLIENT_ERROR invalid shutdown mode\r\n"u8);
        }
    }

    // Before authentication, a client can do nothing else. It sends user and password as the value of a set of any key.
    private int Authenticate(ReadOnlySpan<byte> input, OutputBuffer output)
    {
        ParseStatus status = MemcachedReader.TryRead(input, out MemcachedRequest request, out int consumed, _searchedBytes);
        bool isSet = request.Command == MemcachedCommand.Set && request.HasValue && request.Value.Length > 0;
        switch (status)
        {
            case ParseStatus.Incomplete:
                _searchedBytes = input.Length;
                return 0;

            case ParseStatus.Fatal:
                output.Write(ErrorText(request.Error));
                End();
                return input.Length;

            case ParseStatus.IncompleteValue when isSet && request.Value.Length <= MaxAuthenticationBytes:
                NeededBytes = (int)request.TotalBytes;
                return 0;

            case ParseStatus.IncompleteValue when isSet:
                output.Write(ErrorText(MemcachedError.BadAuthenticationFormat));
                _skipBytes = request.Value.Length + 2L;
                return request.LineBytes;

            case ParseStatus.Complete when isSet:
                CheckCredentials(request.Value.Of(input), output);
                return consumed;

            case ParseStatus.Malformed when isSet && request.Error == MemcachedError.BadDataChunk:
                _recorder.CountError(RequestRecorder.Memcached + (int)_command);
                output.Write("CLIENT_ERROR bad command line termination\r\n"u8);
                return consumed;

            default:
                // Consumes only the line. The lines that follow are treated as requests too, as in memcached.
                output.Write(ErrorText(MemcachedError.Unauthenticated));
                return request.LineBytes;
        }
    }

    private void CheckCredentials(ReadOnlySpan<byte> text, OutputBuffer output)
    {
        var words = new MemcachedTokens(text);
        ReadOnlySpan<byte> user = words.MoveNext() ? words.Current : [];
        ReadOnlySpan<byte> password = words.MoveNext() ? words.Current : [];
        if (password.IsEmpty)
        {
            output.Write(ErrorText(MemcachedError.BadAuthenticationFormat));
            return;
        }

        _isAuthenticated = _sessions.Authenticate(user, password, _entries.Counters, _connection);
        output.Write(_isAuthenticated ? "STORED\r\n"u8 : ErrorText(MemcachedError.AuthenticationFailure));
    }

    private bool Stats(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        if (MustAwaitMemory(_connection, _sessions.Statistics.LengthOf(request.Arguments.Of(input))))
        {
            return false;
        }

        MemcachedTokens words = request.EnumerateArguments(input);
        ReadOnlySpan<byte> what = words.MoveNext() ? words.Current : [];
        ReadOnlySpan<byte> how = words.MoveNext() ? words.Current : [];
        if (_sessions.Statistics.Of(what, _connection) is { } statistics)
        {
            foreach ((string name, string value) in statistics)
            {
                output.Write(Encoding.UTF8.GetBytes($"STAT {name} {value}\r\n"));
            }

            output.Write("END\r\n"u8);
            return true;
        }

        switch (what)
        {
            case var _ when what.SequenceEqual("sizes_enable"u8) || what.SequenceEqual("sizes_disable"u8):
                output.Write("STAT sizes_status disabled\r\n"u8);
                break;
            case var _ when what.SequenceEqual("extstore"u8):
                output.Write("END\r\n"u8);
                break;
            case var _ when what.SequenceEqual("detail"u8):
                StatsDetail(how, output);
                break;
            case var _ when what.SequenceEqual("cachedump"u8):
                // memcached-tool sends it before it knows metadump. The list is always empty.
                output.Write(request.ArgumentCount < 3 ? "CLIENT_ERROR bad command line\r\n"u8 : "END\r\n"u8);
                break;
            case var _ when what.SequenceEqual("reset"u8):
                _sessions.Statistics.Reset();
                output.Write("RESET\r\n"u8);
                break;
            default:
                output.Write(ErrorText(MemcachedError.UnknownCommand));
                break;
        }

        return true;
    }

    private void StatsDetail(ReadOnlySpan<byte> how, OutputBuffer output)
    {
        if (how.SequenceEqual("on"u8) || how.SequenceEqual("off"u8))
        {
            _sessions.Prefixes.IsOn = how.SequenceEqual("on"u8);
            output.Write("OK\r\n"u8);
        }
        else if (how.SequenceEqual("dump"u8))
        {
            output.Write(_sessions.Prefixes.Dump());
            output.Write("END\r\n"u8);
        }
        else
        {
            _recorder.CountError(RequestRecorder.Memcached + (int)_command);
            output.Write("CLIENT_ERROR usage: stats detail on|off|dump\r\n"u8);
        }
    }

    private bool LruCrawler(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        MemcachedTokens words = request.EnumerateArguments(input);
        ReadOnlySpan<byte> what = words.MoveNext() ? words.Current : [];
        ReadOnlySpan<byte> how = words.MoveNext() ? words.Current : [];
        bool isMgdump = what.SequenceEqual("mgdump"u8);
        if (request.ArgumentCount == 2 && (isMgdump || what.SequenceEqual("metadump"u8)))
        {
            return List(how, isMgdump, output);
        }

        ReplyToTuning(request, _sessions.Tuning.Crawler(MemcachedTuning.WordsOf(input, request)), output);
        return true;
    }

    // The request is consumed when the last key is written (I1).
    private bool List(ReadOnlySpan<byte> classes, bool isMgdump, OutputBuffer output)
    {
        int chosen = MemcachedTuning.ClassesOf(classes);
        if (!_sessions.Tuning.IsCrawlerOn || !_sessions.Options.AllowDump)
        {
            _recorder.CountError(RequestRecorder.Memcached + (int)_command);
            output.Write(!_sessions.Tuning.IsCrawlerOn ? "CLIENT_ERROR lru crawler disabled\r\n"u8
                : isMgdump ? "ERROR key dump not allowed\r\n"u8 : "ERROR metadump not allowed\r\n"u8);
            return true;
        }

        if (chosen < 0)
        {
            output.Write("BADCLASS invalid class id\r\n"u8);
            return true;
        }

        if (chosen != 0 && !_listing.TryWrite(_sessions, isMgdump, output))
        {
            HasUnfinishedRequest = !output.IsFull; // With room in the output, no event would resume the connection.
            return false;
        }

        output.Write(isMgdump ? "EN\r\n"u8 : "END\r\n"u8);
        return true;
    }
}
