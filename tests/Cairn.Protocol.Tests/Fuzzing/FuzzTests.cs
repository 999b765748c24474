using Xunit.Abstractions;

namespace Cairn.Protocol;

/// <summary>
/// For every input, a reader throws no exception, reads nothing beyond the input, and its work is bounded by the input's length. The result is the
/// same for every way to cut the input into pieces.
/// </summary>
public class FuzzTests(ITestOutputHelper output)
{
    public static TheoryData<int> Parts => FuzzRun.Parts;

    private static int Inputs => FuzzRun.Count(inShort: 40_000, inLong: 1_000_000);

    [Theory]
    [MemberData(nameof(Parts))]
    public void Any_memcached_requests_are_read(int part) =>
        new FuzzRun(output, part).Go(Inputs, RandomMessages.MemcachedRequests, CheckMemcachedRequests);

    [Theory]
    [MemberData(nameof(Parts))]
    public void Any_memcached_replies_are_read(int part) =>
        new FuzzRun(output, part).Go(Inputs, RandomMessages.MemcachedReplies, CheckMemcachedReplies);

    [Theory]
    [MemberData(nameof(Parts))]
    public void Any_binary_memcached_requests_are_read(int part) =>
        new FuzzRun(output, part).Go(Inputs, RandomMessages.MemcachedBinaryRequests, CheckBinaryRequests);

    [Theory]
    [MemberData(nameof(Parts))]
    public void Any_RESP_requests_are_read_alike_however_they_are_cut(int part)
    {
        var whole = new RespRequestReader();
        var cut = new RespRequestReader();
        new FuzzRun(output, part).Go(Inputs, RandomMessages.RespRequests, (random, input) =>
        {
            whole.Reset();
            cut.Reset();
            int position = 0;
            while (true)
            {
                var rest = input[position..];
                var expected = whole.TryRead(rest, out var request, out int consumed);
                CheckRespRequest(whole, expected, request, rest, consumed);

                var status = ReadInPieces(random, cut, rest, expected == ParseStatus.Complete ? consumed : rest.Length, out var again, out int cutConsumed);
                CheckTrue(status == expected, "the status depends on the cut");
                CheckTrue(cutConsumed == consumed, "the length depends on the cut");
                if (expected != ParseStatus.Complete)
                {
                    CheckTrue(whole.Error == cut.Error, "the error depends on the cut");
                    return;
                }

                CheckTrue(again.ArgumentCount == request.ArgumentCount, "the number of arguments depends on the cut");
                for (int i = 0; i < request.ArgumentCount; i++)
                {
                    CheckTrue(
                        cut.GetArgument(rest, again, i).SequenceEqual(whole.GetArgument(rest, request, i)),
                        "an argument depends on the cut");
                }

                position += consumed;
            }
        });
    }

    [Theory]
    [MemberData(nameof(Parts))]
    public void Any_RESP_replies_are_found_alike_however_they_are_cut_and_read_to_their_end(int part)
    {
        var limits = new RespReplyLimits { MaxDepth = 6, MaxBulkBytes = 1 << 20, MaxLineBytes = 64 };
        var whole = new RespReplyScanner(limits);
        var cut = new RespReplyScanner(limits);
        new FuzzRun(output, part).Go(Inputs, RandomMessages.RespReplies, (random, input) =>
        {
            whole.Reset();
            cut.Reset();
            int position = 0;
            while (true)
            {
                var rest = input[position..];
                var expected = whole.TryScan(rest, out int length);
                var status = ScanInPieces(random, cut, rest, expected == ParseStatus.Complete ? length : rest.Length, out int cutLength);

                CheckTrue(status == expected, "the status depends on the cut");
                CheckTrue(cutLength == length, "the length depends on the cut");
                if (expected != ParseStatus.Complete)
                {
                    CheckTrue(expected == ParseStatus.Fatal || whole.NeededBytes > rest.Length, "too few bytes are asked for");
                    ReadElements(rest); // The rest is broken or incomplete. This only has to end.
                    return;
                }

                CheckTrue(length > 0 && length <= rest.Length, "the length is wrong");
                CheckTrue(ReadElements(rest[..length]) == length, "the reader and the scanner disagree");
                position += length;
            }
        });
    }

    [Theory]
    [MemberData(nameof(Parts))]
    public void Any_text_is_a_number_or_not(int part)
    {
        var numbers = Latin.Bytes("0123456789.eE+-xXpPinfatyINF \0");
        var text = new byte[ExtendedDouble.MaxTextBytes];
        new FuzzRun(output, part).Go(
            Inputs,
            (random, input) =>
            {
                for (int i = random.Next(random.Next(50) == 0 ? 400 : 30); i > 0; i--)
                {
                    input.Add([numbers[random.Next(random.Next(3) == 0 ? numbers.Length : 12)]]);
                }
            },
            (_, input) =>
            {
                if (DecimalText.TryParseInt64(input, out long number))
                {
                    CheckTrue(text.AsSpan(0, DecimalText.Format(number, text)).SequenceEqual(input), "a number has two texts");
                }

                bool isDouble = DoubleText.TryParse(input, out double value);
                bool isExtended = ExtendedDouble.TryParse(input, out var extended);
                if (isExtended && extended.IsFinite)
                {
                    CheckTrue(extended.Format(text) > 0, "a number has no text");
                }

                // Both readers accept every number that both can represent.
                bool isPlain = isDouble && double.IsNormal(value);
                CheckTrue(!isPlain || isExtended, "a double is refused as an extended double");
            });
    }

    private static void CheckMemcachedRequests(Random random, ReadOnlySpan<byte> input)
    {
        int position = 0;
        while (true)
        {
            var rest = input[position..];
            var status = MemcachedReader.TryRead(rest, out var request, out int consumed);
            CheckMemcachedRequest(status, request, rest, consumed);
            CheckCut(random, status, request, rest, consumed);
            if (status is not (ParseStatus.Complete or ParseStatus.Malformed))
            {
                return;
            }

            position += consumed + Math.Min(request.SkipBytes, rest.Length - consumed);
        }
    }

    private static void CheckMemcachedRequest(ParseStatus status, in MemcachedRequest request, ReadOnlySpan<byte> rest, int consumed)
    {
        switch (status)
        {
            case ParseStatus.Complete:
                CheckTrue(consumed > 0 && consumed <= rest.Length && consumed == request.TotalBytes, "the length is wrong");
                CheckTrue(request.Error == MemcachedError.None, "a complete request has an error");
                CheckTrue(request.Command != MemcachedCommand.None, "a complete request has no command");
                CheckTrue(request.Key.Of(rest).Length <= MemcachedReader.MaxKeyBytes, "the key is too long");
                CheckTrue(request.Key.End <= request.LineBytes && request.Arguments.End <= request.LineBytes, "words leave the line");
                CheckTrue(!request.HasValue || rest[request.Value.End..].StartsWith("\r\n"u8), "a value does not end");
                CheckTrue(CountWords(request, rest) == request.ArgumentCount, "words are miscounted");
                Span<byte> key = stackalloc byte[MemcachedReader.MaxKeyBytes];
                CheckTrue(!request.IsBase64Key || request.TryDecodeKey(rest, key, out _), "a base64 key is none");
                break;

            case ParseStatus.IncompleteValue:
                CheckTrue(consumed == 0 && request.HasValue && request.TotalBytes > rest.Length, "a value is there");
                break;

            case ParseStatus.Malformed:
                CheckTrue(consumed > 0 && consumed <= rest.Length && request.SkipBytes >= 0, "the length is wrong");
                CheckTrue(!MemcachedReader.GetErrorText(request.Error).IsEmpty, "an error has no text");
                break;

            case ParseStatus.Fatal:
                CheckTrue(consumed == 0 && request.Error != MemcachedError.None, "a fatal error is none");
                break;

            default:
                CheckTrue(consumed == 0 && !rest.Contains((byte)'\n'), "a line's end was missed");
                break;
        }
    }

    private static int CountWords(in MemcachedRequest request, ReadOnlySpan<byte> rest)
    {
        int words = 0;
        foreach (var word in request.EnumerateArguments(rest))
        {
            CheckTrue(!word.IsEmpty && !word.Contains((byte)' '), "a word is none");
            words++;
        }

        return words;
    }

    private static void CheckCut(Random random, ParseStatus whole, in MemcachedRequest expected, ReadOnlySpan<byte> rest, int consumed)
    {
        if (whole is not (ParseStatus.Complete or ParseStatus.Malformed))
        {
            return;
        }

        int cut = random.Next(consumed);
        var status = MemcachedReader.TryRead(rest[..cut], out _, out int cutConsumed);
        CheckTrue(cutConsumed == 0, "a part of a request is consumed");
        CheckTrue(
            status == (cut < expected.LineBytes ? ParseStatus.Incomplete : ParseStatus.IncompleteValue),
            "a part of a request is not incomplete");
        if (status == ParseStatus.Incomplete)
        {
            status = MemcachedReader.TryRead(rest, out var again, out cutConsumed, searchedBytes: cut);
            CheckTrue(status == whole && cutConsumed == consumed && again.Error == expected.Error, "the result depends on the cut");
        }
    }

    private static void CheckBinaryRequests(Random random, ReadOnlySpan<byte> input)
    {
        int position = 0;
        while (true)
        {
            var rest = input[position..];
            var status = MemcachedBinary.TryRead(rest, out var request, out int consumed);
            CheckTrue(request.Key.Length <= MemcachedReader.MaxKeyBytes && request.HeadBytes <= 24 + 255 + MemcachedReader.MaxKeyBytes, "the key is too long");
            switch (status)
            {
                case ParseStatus.Complete:
                    CheckTrue(consumed > 0 && consumed <= rest.Length && consumed == request.TotalBytes, "the length is wrong");
                    CheckTrue(request.Error == MemcachedStatus.Success && request.Command != MemcachedCommand.None, "a complete request has an error");
                    CheckTrue(request.Key.End == request.HeadBytes && request.Value.Offset == request.HeadBytes, "the parts do not follow each other");
                    int cut = random.Next(consumed);
                    var part = MemcachedBinary.TryRead(rest[..cut], out _, out int cutConsumed);
                    CheckTrue(cutConsumed == 0, "a part of a request is consumed");
                    CheckTrue(part == (cut < request.HeadBytes ? ParseStatus.Incomplete : ParseStatus.IncompleteValue), "a part of a request is not incomplete");
                    break;

                case ParseStatus.Malformed:
                    CheckTrue(consumed == MemcachedBinary.HeaderBytes && request.Error == MemcachedStatus.UnknownCommand, "only unknown opcodes are skipped");
                    break;

                case ParseStatus.IncompleteValue:
                    CheckTrue(consumed == 0 && request.HeadBytes <= rest.Length && request.HeadBytes + request.SkipBytes > rest.Length, "a value is there");
                    return;

                case ParseStatus.Incomplete:
                    CheckTrue(consumed == 0 && rest.Length < Math.Max(MemcachedBinary.HeaderBytes, request.HeadBytes), "a head is there");
                    return;

                default:
                    CheckTrue(consumed == 0, "a fatal error is consumed");
                    return;
            }

            position += (int)Math.Min(consumed + request.SkipBytes, rest.Length);
        }
    }

    private static void CheckMemcachedReplies(Random random, ReadOnlySpan<byte> input)
    {
        int position = 0;
        while (true)
        {
            var rest = input[position..];
            var status = MemcachedReplyReader.TryRead(rest, out var reply, out int consumed);
            if (status != ParseStatus.Complete)
            {
                CheckTrue(consumed == 0, "what is not complete is consumed");
                CheckTrue(status != ParseStatus.IncompleteValue || reply.TotalBytes > rest.Length, "a value is there");
                CheckTrue(status != ParseStatus.Incomplete || !rest.Contains((byte)'\n'), "a line's end was missed");
                CheckTrue(status != ParseStatus.Malformed, "a reply is never skipped");
                return;
            }

            CheckTrue(consumed > 0 && consumed <= rest.Length && consumed == reply.TotalBytes, "the length is wrong");
            CheckTrue(reply.Kind != MemcachedReplyKind.None, "a reply is of no kind");
            CheckTrue(
                reply.Key.End <= reply.LineBytes && reply.Text.End <= reply.LineBytes && reply.Flags.End <= reply.LineBytes,
                "a part leaves the line");
            foreach (var flag in reply.EnumerateFlags(rest))
            {
                CheckTrue(!flag.IsEmpty, "a flag is empty");
            }

            int cut = random.Next(consumed);
            status = MemcachedReplyReader.TryRead(rest[..cut], out _, out _);
            CheckTrue(
                status == (cut < reply.LineBytes ? ParseStatus.Incomplete : ParseStatus.IncompleteValue),
                "a part of a reply is not incomplete");
            position += consumed;
        }
    }

    private static void CheckRespRequest(
        RespRequestReader reader, ParseStatus status, in RespRequest request, ReadOnlySpan<byte> rest, int consumed)
    {
        if (status != ParseStatus.Complete)
        {
            CheckTrue(consumed == 0 && request.ArgumentCount == 0, "what is not complete is consumed");
            CheckTrue(status is ParseStatus.Incomplete or ParseStatus.Fatal, "RESP knows no other status");
            CheckTrue(status == ParseStatus.Fatal || reader.NeededBytes > rest.Length, "too few bytes are asked for");
            return;
        }

        CheckTrue(consumed > 0 && consumed <= rest.Length, "the length is wrong");
        foreach (var range in reader.GetRanges(request))
        {
            CheckTrue(range.Offset < 0 || range.End <= consumed, "an argument leaves its request");
        }
    }

    // Reads in pieces up to a known end. Each call gets a longer part of the input, from its start.
    private static ParseStatus ReadInPieces(
        Random random, RespRequestReader reader, ReadOnlySpan<byte> input, int end, out RespRequest request, out int consumed)
    {
        for (int length = random.Next(end + 1); length < end; length = random.Next(length + 1, end + 1))
        {
            var status = reader.TryRead(input[..length], out request, out consumed);
            CheckTrue(status != ParseStatus.Complete, "a part of a request is complete");
            if (status == ParseStatus.Fatal)
            {
                return status;
            }
        }

        return reader.TryRead(input, out request, out consumed);
    }

    private static ParseStatus ScanInPieces(
        Random random, RespReplyScanner scanner, ReadOnlySpan<byte> input, int end, out int replyBytes)
    {
        for (int length = random.Next(end + 1); length < end; length = random.Next(length + 1, end + 1))
        {
            var status = scanner.TryScan(input[..length], out replyBytes);
            CheckTrue(status != ParseStatus.Complete, "a part of a reply is complete");
            if (status == ParseStatus.Fatal)
            {
                return status;
            }
        }

        return scanner.TryScan(input, out replyBytes);
    }

    private static int ReadElements(ReadOnlySpan<byte> reply)
    {
        var reader = new RespReplyReader(reply);
        while (reader.Read())
        {
            CheckTrue(reader.Value.Length <= reply.Length, "a value is longer than its reply");
            _ = reader.TryGetInt64(out _);
            _ = reader.TryGetDouble(out _);
        }

        return reader.Position;
    }

    // Cheaper than an assertion. A run would execute billions of assertions.
    private static void CheckTrue(bool condition, string whatIsWrong)
    {
        if (!condition)
        {
            Assert.Fail($"Wrong: {whatIsWrong}.");
        }
    }
}
