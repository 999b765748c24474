using System.Text.Json;

namespace Cairn.Cli.Reports;

/// <summary>Writes the distribution of value sizes as text and as JSON.</summary>
internal static class SizesReport
{
    public static void WriteJson(Utf8JsonWriter writer, SizeHistogram sizes)
    {
        writer.WriteStartObject("sizes"u8);
        writer.WriteNumber("entries"u8, sizes.Entries);
        writer.WriteNumber("valueBytes"u8, sizes.ValueBytes);
        writer.WriteStartArray("bins"u8);
        foreach (SizeBin bin in sizes.Bins)
        {
            writer.WriteStartObject();
            writer.WriteNumber("fromBytes"u8, bin.FromBytes);
            writer.WriteNumber("toBytes"u8, bin.ToBytes);
            writer.WriteNumber("entries"u8, bin.Entries);
            writer.WriteNumber("valueBytes"u8, bin.ValueBytes);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        writer.WriteEndObject();
    }

    public static void WriteText(ToolOutput output, SizeHistogram sizes)
    {
        const int LongestBar = 30;
        long most = sizes.Bins.Count == 0 ? 1 : sizes.Bins.Max(bin => bin.Entries);
        var table = new TextTable(">value", ">entries", ">together", "");
        foreach (SizeBin bin in sizes.Bins)
        {
            int length = (int)Math.Ceiling((double)bin.Entries / most * LongestBar);
            table.Add(
                bin.ToBytes == 0 ? "empty" : $"from {Figures.Bytes(bin.FromBytes)}",
                Figures.Count(bin.Entries),
                Figures.Bytes(bin.ValueBytes),
                new string('█', length));
        }

        table.WriteTo(output);
        output.WriteLine($"{Figures.Count(sizes.Entries)} values with {Figures.Bytes(sizes.ValueBytes)} in all");
    }
}
