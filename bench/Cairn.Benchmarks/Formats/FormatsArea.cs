using Cairn.Benchmarks.Measuring;
using Google.Protobuf;

namespace Cairn.Benchmarks.Formats;

/// <summary>Compares the speed and the size of the value formats with each other and with protoc's code.</summary>
internal sealed class FormatsArea : IArea
{
    private const int FewRecords = 50;
    private const int ManyRecords = 50_000;
    private const double BytesPerMegabyte = 1e6;

    /// <summary>The formats that are compared.</summary>
    public static IReadOnlyList<ValueFormat> Formats { get; } = Enum.GetValues<ValueFormat>();

    // The upper bounds for 50,000 records, in megabytes. They were taken from records whose texts have these lengths.
    private static readonly Dictionary<ValueFormat, double> _mostMegabytes = new()
    {
        [ValueFormat.Json] = 6.62,
        [ValueFormat.Xml] = 9.52,
        [ValueFormat.BinaryXml] = 4.9,
        [ValueFormat.Protobuf] = 3.47,
    };

    public string Name => "serializers";

    public void Run(AreaRun run)
    {
        foreach (var records in new[] { ManyRecords, FewRecords })
        {
            // The same total number of records for both sizes.
            var passes = (run.Settings.IsQuick ? 1 : 4) * ManyRecords / records;
            MeasureReading(run, records, passes);
            MeasureWriting(run, records, passes);
        }

        CheckSizes(run);
        FirstUseCase.Measure(run);
        TransportCase.Measure(run, ManyRecords, passes: run.Settings.IsQuick ? 2 : 5);
        TransportCase.Measure(run, FewRecords, passes: run.Settings.IsQuick ? 200 : 1_000);
    }

    private static void MeasureReading(AreaRun run, int records, int passes) => run.Measure($"serializers, reading {records:N0}", Rounds(run), group =>
    {
        var value = Catalogue.Make(records);
        var readers = Formats.ToDictionary(format => format, format =>
        {
            var codec = group.Own(new CatalogueCodec(format));
            var bytes = codec.Write(value);
            return group.Enter(new CatalogueWork(codec.Name, records, passes, () => codec.Read(bytes)));
        });
        var written = group.Own(new CatalogueCodec(ValueFormat.Protobuf)).Write(value).ToArray();
        var generated = group.Enter(new CatalogueWork(
            "protoc's code", records, passes, () => Generated.Catalogue.Parser.ParseFrom(written)));

        var name = $"reading {records:N0} records";
        group.Compare(name, readers[ValueFormat.Protobuf], generated, Goal.AtMost(1.3));
        group.Compare(name, readers[ValueFormat.Protobuf], readers[ValueFormat.Json], Goal.AtMost(1));
        group.Compare(name, readers[ValueFormat.Json], readers[ValueFormat.Xml], Goal.AtMost(1));
        group.Compare(name, readers[ValueFormat.BinaryXml], readers[ValueFormat.Json]);
        group.Compare(name, readers[ValueFormat.Protobuf], readers[ValueFormat.MemoryPack]);
        group.Compare(name, readers[ValueFormat.Protobuf], readers[ValueFormat.MessagePack]);
    });

    private static void MeasureWriting(AreaRun run, int records, int passes) => run.Measure($"serializers, writing {records:N0}", Rounds(run), group =>
    {
        var value = Catalogue.Make(records);
        var writers = Formats.ToDictionary(format => format, format =>
        {
            var codec = group.Own(new CatalogueCodec(format));
            return group.Enter(new CatalogueWork(codec.Name, records, passes, () => codec.Write(value)));
        });
        var message = Generated.Catalogue.Parser.ParseFrom(group.Own(new CatalogueCodec(ValueFormat.Protobuf)).Write(value).ToArray());
        var target = new System.Buffers.ArrayBufferWriter<byte>();
        var generated = group.Enter(new CatalogueWork("protoc's code", records, passes, () =>
        {
            target.ResetWrittenCount();
            message.WriteTo(target);
        }));

        var name = $"writing {records:N0} records";
        group.Compare(name, writers[ValueFormat.Protobuf], generated);
        group.Compare(name, writers[ValueFormat.Protobuf], writers[ValueFormat.Json]);
        group.Compare(name, writers[ValueFormat.Json], writers[ValueFormat.Xml]);
        group.Compare(name, writers[ValueFormat.BinaryXml], writers[ValueFormat.Json]);
        group.Compare(name, writers[ValueFormat.Protobuf], writers[ValueFormat.MemoryPack]);
        group.Compare(name, writers[ValueFormat.Protobuf], writers[ValueFormat.MessagePack]);
    });

    private static void CheckSizes(AreaRun run)
    {
        var codecs = Formats.Select(format => new CatalogueCodec(format)).ToList();
        var plain = codecs.ConvertAll(codec => new Finding($"{ManyRecords:N0} records", codec.Name, "1 MB")
        {
            Goal = _mostMegabytes.TryGetValue(codec.Format, out var most) ? Goal.AtMost(most) : null,
        });
        var compressed = codecs.ConvertAll(codec => new Finding($"{ManyRecords:N0} records with Brotli", codec.Name, "without")
        {
            Goal = Goal.AtMost(1.0 / 3),
        });
        run.Check("serializers, sizes", [.. plain, .. compressed], () =>
        {
            var value = Catalogue.Make(ManyRecords);
            var bytes = codecs.ConvertAll(codec => (double)codec.Write(value).Length);
            return
            [
                .. plain.Zip(bytes, (finding, length) => finding with { Ratio = length / BytesPerMegabyte }),
                .. compressed.Select((finding, at) => finding with { Ratio = codecs[at].WriteCompressed(value).Length / bytes[at] }),
            ];
        });
        codecs.ForEach(codec => codec.Dispose());
    }

    private static int Rounds(AreaRun run) => run.Settings.IsQuick ? 3 : 9;
}
