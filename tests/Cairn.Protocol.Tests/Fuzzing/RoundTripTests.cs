using Xunit.Abstractions;

namespace Cairn.Protocol;

/// <summary>A reader reads every message that a writer writes.</summary>
public class RoundTripTests(ITestOutputHelper output)
{
    private static readonly MemcachedCommand[] StorageCommands =
        [MemcachedCommand.Set, MemcachedCommand.Add, MemcachedCommand.Replace, MemcachedCommand.Append, MemcachedCommand.Prepend];

    private static int Rounds => FuzzRun.Count(inShort: 5_000, inLong: 1_000_000);

    [Fact]
    public void Memcached_requests_that_a_client_writes_are_those_a_server_reads()
    {
        var destination = new byte[4096];
        new FuzzRun(output).Go(Rounds, MakeValue, (random, value) =>
        {
            var key = RandomKey(random);
            var command = StorageCommands[random.Next(StorageCommands.Length)];
            uint flags = (uint)random.NextInt64(uint.MaxValue + 1L);
            long expiration = random.NextInt64(-1, int.MaxValue);
            ulong version = (ulong)random.NextInt64(long.MinValue, long.MaxValue);
            bool isNoReply = random.Next(2) == 0;

            var metaKey = value.IsEmpty ? "\0"u8 : value;

            var writer = new MemcachedRequestWriter(destination);
            writer.WriteStore(command, key, value, flags, expiration, isNoReply);
            int metaStart = writer.PendingBytes;
            writer.BeginMetaSet(metaKey, value.Length, isBase64: true);
            writer.WriteFlag('C', version);
            writer.WriteFlag('T', expiration);
            writer.WriteLineEnd();
            writer.WriteData(value);
            var written = destination.AsSpan(0, writer.PendingBytes);

            Assert.Equal(ParseStatus.Complete, MemcachedReader.TryRead(written, out var request, out int consumed));
            Assert.Equal(metaStart, consumed);
            Assert.Equal(command, request.Command);
            CheckStorage(request, written, key, value, flags, expiration, isNoReply);

            var meta = written[metaStart..];
            Span<byte> decoded = stackalloc byte[MemcachedReader.MaxKeyBytes];
            Assert.Equal(ParseStatus.Complete, MemcachedReader.TryRead(meta, out request, out consumed));
            Assert.Equal(meta.Length, consumed);
            Assert.True(request.TryDecodeKey(meta, decoded, out int keyLength));
            Assert.True(decoded[..keyLength].SequenceEqual(metaKey));
            Assert.True(request.Value.Of(meta).SequenceEqual(value));
            Assert.Equal(version, request.Version);
            Assert.Equal(expiration, request.ExpirationSeconds);
        });
    }

    [Fact]
    public void Memcached_replies_that_a_server_writes_are_those_a_client_reads()
    {
        var destination = new byte[4096];
        new FuzzRun(output).Go(Rounds, MakeValue, (random, value) =>
        {
            var key = RandomKey(random);
            ulong version = (ulong)random.NextInt64(long.MinValue, long.MaxValue);
            long seconds = random.NextInt64(-1, int.MaxValue);

            var writer = new MemcachedReplyWriter(destination);
            writer.BeginMetaValue(value.Length);
            writer.WriteFlag('t', seconds);
            writer.WriteFlag('c', version);
            writer.WriteKeyFlag(key, isBase64: false);
            writer.WriteLineEnd();
            writer.WriteData(value);
            var written = destination.AsSpan(0, writer.PendingBytes);

            Assert.Equal(ParseStatus.Complete, MemcachedReplyReader.TryRead(written, out var reply, out int consumed));
            Assert.Equal(written.Length, consumed);
            Assert.Equal(
                [$"t{seconds}", $"c{version}", "k" + Latin.Text(key)],
                FlagsOf(reply, written));
            Assert.True(reply.Value.Of(written).SequenceEqual(value));
        });
    }

    [Fact]
    public void RESP_requests_that_a_client_writes_are_those_a_server_reads()
    {
        var destination = new byte[8192];
        var reader = new RespRequestReader();
        new FuzzRun(output).Go(Rounds, MakeValue, (random, value) =>
        {
            int count = random.Next(1, 20);
            long number = random.NextInt64(long.MinValue, long.MaxValue);
            var writer = new RespWriter(destination);
            writer.WriteArrayHeader(count + 1);
            for (int i = 0; i < count; i++)
            {
                writer.WriteBulk(value[..(value.Length * i / count)]);
            }

            writer.WriteBulk(number);
            var written = destination.AsSpan(0, writer.PendingBytes);

            Assert.Equal(ParseStatus.Complete, reader.TryRead(written, out var request, out int consumed));
            Assert.Equal(written.Length, consumed);
            Assert.Equal(count + 1, request.ArgumentCount);
            for (int i = 0; i < count; i++)
            {
                Assert.True(reader.GetArgument(written, request, i).SequenceEqual(value[..(value.Length * i / count)]));
            }

            Assert.True(DecimalText.TryParseInt64(reader.GetArgument(written, request, count), out long read));
            Assert.Equal(number, read);
        });
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void RESP_replies_that_a_server_writes_are_those_a_client_reads(bool isResp3)
    {
        var destination = new byte[8192];
        var scanner = new RespReplyScanner();
        new FuzzRun(output).Go(Rounds, MakeValue, (random, value) =>
        {
            long number = random.NextInt64(long.MinValue, long.MaxValue) >> random.Next(64);
            double fraction = BitConverter.Int64BitsToDouble(number);
            var writer = new RespWriter(destination, isResp3);
            writer.WriteArrayHeader(6);
            writer.WriteBulk(value);
            writer.WriteInteger(number);
            writer.WriteDouble(fraction);
            writer.WriteMapHeader(1);
            writer.WriteVerbatim(value, "txt"u8);
            writer.WriteNull();
            writer.WriteSetHeader(1);
            writer.WriteBulk("-1"u8);
            writer.WriteSimple("done"u8);
            var written = destination.AsSpan(0, writer.PendingBytes);

            Assert.Equal(ParseStatus.Complete, scanner.TryScan(written, out int length));
            Assert.Equal(written.Length, length);
            var reader = new RespReplyReader(written);
            Assert.True(reader.Read());
            Assert.Equal(6, reader.Count);
            Assert.True(reader.Read() && reader.Value.SequenceEqual(value));
            Assert.True(reader.Read() && reader.TryGetInt64(out long readNumber) && readNumber == number);
            Assert.True(reader.Read() && reader.TryGetDouble(out double readFraction) && readFraction.Equals(fraction));
            Assert.True(reader.Read());
            Assert.Equal(isResp3 ? RespType.Map : RespType.Array, reader.Type);
            Assert.True(reader.Read() && reader.Value.SequenceEqual(value));
            Assert.True(reader.Read() && reader.IsNull);
            Assert.True(reader.Read());
            Assert.Equal(isResp3 ? RespType.Set : RespType.Array, reader.Type);
            Assert.True(reader.Read() && reader.Value.SequenceEqual("-1"u8));
            Assert.True(reader.Read() && reader.Value.SequenceEqual("done"u8));
            Assert.False(reader.Read());
        });
    }

    private static void MakeValue(Random random, InputBuilder input) => input.AddTelling(random, random.Next(180));

    private static List<string> FlagsOf(MemcachedReply reply, ReadOnlySpan<byte> input)
    {
        List<string> flags = [];
        foreach (var flag in reply.EnumerateFlags(input))
        {
            flags.Add(Latin.Text(flag));
        }

        return flags;
    }

    private static byte[] RandomKey(Random random)
    {
        var key = new byte[random.Next(1, MemcachedReader.MaxKeyBytes + 1)];
        for (int i = 0; i < key.Length; i++)
        {
            int value = random.Next('!', 255);
            key[i] = (byte)(value == 127 ? 255 : value);
        }

        return key;
    }

    private static void CheckStorage(
        in MemcachedRequest request, ReadOnlySpan<byte> input, byte[] key, ReadOnlySpan<byte> value, uint flags, long expiration, bool isNoReply)
    {
        Assert.True(request.Key.Of(input).SequenceEqual(key));
        Assert.True(request.Value.Of(input).SequenceEqual(value));
        Assert.Equal(flags, request.ClientFlags);
        Assert.Equal(expiration, request.ExpirationSeconds);
        Assert.Equal(isNoReply, request.IsNoReply);
    }
}
