using Cairn.Cli.Clients;

namespace Cairn.Cli.Reports;

/// <summary>Writes the figures of a server as text or as JSON.</summary>
internal static class ServerStatisticsReport
{
    public static void Write(ToolOutput output, bool isJson, string address, ServerLink link)
    {
        ServerSample sample = ServerSample.Take(link);
        long gets = sample.Hits + sample.Misses;
        double? hitRatio = gets == 0 ? null : (double)sample.Hits / gets;
        if (isJson)
        {
            using var line = new JsonLine(output);
            line.Writer.WriteString("server"u8, address);
            line.Writer.WriteString("name"u8, link.ServerName);
            line.Writer.WriteNumber("uptimeSeconds"u8, (long)sample.Uptime.TotalSeconds);
            line.Writer.WriteStartObject("commands"u8);
            foreach ((string name, long count) in sample.Operations)
            {
                line.Writer.WriteNumber(name, count);
            }

            line.Writer.WriteEndObject();
            line.Writer.WriteNumber("hits"u8, sample.Hits);
            line.Writer.WriteNumber("misses"u8, sample.Misses);
            line.Writer.WriteRatio("hitRatio"u8, hitRatio);
            line.Writer.WriteNumber("bytesReceived"u8, sample.BytesReceived);
            line.Writer.WriteNumber("bytesSent"u8, sample.BytesSent);
            line.Writer.WriteNumber("evictions"u8, sample.Evictions);
            line.Writer.WriteNumber("expirations"u8, sample.Expirations);
            line.Writer.WriteNumber("items"u8, sample.Items);
            line.Writer.WriteNumber("memoryBytes"u8, sample.MemoryBytes);
            line.Writer.WriteNumber("memoryLimitBytes"u8, sample.MemoryLimitBytes);
            line.Writer.WriteNumber("connections"u8, sample.Connections);
            return;
        }

        output.WriteLine($"{link.ServerName} at {address}");
        var table = new TextTable("", "");
        table.Add("  up", Figures.Time(sample.Uptime));
        table.Add("  items", Figures.Count(sample.Items));
        table.Add("  memory", sample.MemoryLimitBytes == 0
            ? Figures.Bytes(sample.MemoryBytes)
            : $"{Figures.Bytes(sample.MemoryBytes)} of {Figures.Bytes(sample.MemoryLimitBytes)}");
        table.Add("  connections", Figures.Count(sample.Connections));
        table.Add("  gets", $"{Figures.Count(sample.Hits)} hits, {Figures.Count(sample.Misses)} misses{(hitRatio is { } ratio ? $", hit ratio {Figures.Percent(ratio)}" : "")}");
        table.Add("  evictions", Figures.Count(sample.Evictions));
        table.Add("  expirations", Figures.Count(sample.Expirations));
        table.Add("  received", Figures.Bytes(sample.BytesReceived));
        table.Add("  sent", Figures.Bytes(sample.BytesSent));
        table.WriteTo(output);
        output.WriteLine();
        var commands = new TextTable("command", ">requests");
        foreach ((string name, long count) in sample.Operations.Where(pair => pair.Value > 0).OrderByDescending(pair => pair.Value))
        {
            commands.Add(name, count.ToString("N0", CultureInfo.InvariantCulture));
        }

        commands.WriteTo(output);
    }
}
