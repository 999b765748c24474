using System.Buffers;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Server;
using Cairn.Redis;
using Google.Protobuf;

namespace Cairn.Benchmarks.Formats;

/// <summary>Measures the cost of writing and reading values through a server, compared with moving bytes that exist already.</summary>
internal static class TransportCase
{
    private const string Key = "catalogue";

    public static void Measure(AreaRun run, int records, int passes) => run.Measure($"serializers, {records:N0} records through Redis", run.Settings.IsQuick ? 3 : 15, group =>
    {
        var server = group.MakePeer(() => ServerProcess.Start(
            ServerPeers.Redis(), WireProtocol.Resp, Path.Combine(run.Settings.Folder, "redis"), isUnix: false));
        if (server is null)
        {
            return;
        }

        var client = group.Own(RedisClient.Create($"127.0.0.1:{server.Address.Port}"));
        var value = Catalogue.Make(records);
        foreach (var format in FormatsArea.Formats)
        {
            var codec = group.Own(new CatalogueCodec(format));
            var bytes = codec.Write(value).ToArray();
            var received = new ArrayBufferWriter<byte>(bytes.Length);
            var bare = EnterBare(bytes);
            Compare(codec.Name, bare, format == ValueFormat.Protobuf && records > 1_000 ? Goal.AtMost(2.5) : null, () =>
            {
                Move(client, codec.Write(value), received);
                codec.Read(received.WrittenMemory);
            });
            Compare($"{codec.Name} + Brotli", EnterBare(codec.WriteCompressed(value).ToArray()), goal: null, () =>
            {
                Move(client, codec.WriteCompressed(value), received);
                codec.ReadCompressed(received.WrittenMemory);
            });
            if (format == ValueFormat.Protobuf)
            {
                // The limit for the cache: the code that protoc generates.
                var message = Generated.Catalogue.Parser.ParseFrom(bytes);
                var written = new ArrayBufferWriter<byte>(bytes.Length);
                Compare("protoc's code", bare, goal: null, () =>
                {
                    written.ResetWrittenCount();
                    message.WriteTo(written);
                    Move(client, written.WrittenMemory, received);
                    Generated.Catalogue.Parser.ParseFrom(received.WrittenSpan);
                });
            }
        }

        IContender EnterBare(byte[] bytes)
        {
            var received = new ArrayBufferWriter<byte>(bytes.Length);
            return group.Enter(new CatalogueWork($"its {bytes.Length:N0} bytes", records, passes, () => Move(client, bytes, received)));
        }

        void Compare(string name, IContender bare, Goal? goal, Action pass) => group.Compare(
            $"{records:N0} records to Redis and back", group.Enter(new CatalogueWork(name, records, passes, pass)), bare, goal, Quantity.WallTime);
    });

#pragma warning disable VSTHRD002 // A benchmark has a thread of its own.
    private static void Move(RedisClient client, ReadOnlyMemory<byte> bytes, ArrayBufferWriter<byte> received)
    {
        received.ResetWrittenCount();
        client.SetAsync(Key, bytes).AsTask().GetAwaiter().GetResult();
        if (!client.GetAsync(Key, received).AsTask().GetAwaiter().GetResult())
        {
            throw new InvalidDataException("The value is gone.");
        }
    }
#pragma warning restore VSTHRD002
}
