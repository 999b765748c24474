using Cairn.Caching;

namespace Cairn.Cli.Formats;

/// <summary>The formats that are compared.</summary>
internal static class ComparedFormats
{
    public static IReadOnlyList<CairnFormat> All { get; } = [CairnFormat.Json, CairnFormat.Xml, CairnFormat.Binary, CairnFormat.Protobuf];
}
