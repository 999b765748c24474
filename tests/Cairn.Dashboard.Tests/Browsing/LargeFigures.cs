using System.Text.Json;
using System.Text.Json.Nodes;
using Microsoft.Playwright;

namespace Cairn.Dashboard.Tests.Browsing;

/// <summary>Shows a page the longest figures: those of a store of terabytes and a server that has been busy for years, with clients from everywhere.</summary>
internal static class LargeFigures
{
    private const long Factor = 98_765_431;
    private const long TimeFactor = 9_999;

    // Times, positions and shares are not changed.
    private static readonly string[] s_same = ["next", "fill", "share", "shareAtLeast", "shareAtMost", "windowMs", "workers", "withinSeconds", "map", "bytesPerSegment"];

    // The longest texts of these fields, whatever the machine and its speed.
    private static readonly Dictionary<string, JsonNode> s_longest = new(StringComparer.Ordinal)
    {
        ["address"] = "[2001:db8:1234:5678:9abc:def0:1234:5678]:65535",
        ["ageMs"] = 3_599_000, // 59 min 59 s
        ["idleMs"] = 3_599_000,
    };

    public static Task ShowAsync(IPage page) => page.RouteAsync("**/api/**", async route =>
    {
        IAPIResponse response = await route.FetchAsync();
        if (await response.TextAsync() is not ['{', ..] text)
        {
            await route.FulfillAsync(new RouteFulfillOptions { Response = response });
            return;
        }

        var body = (JsonObject)JsonNode.Parse(text)!;
        Enlarge(body);
        await route.FulfillAsync(new RouteFulfillOptions { Response = response, Body = body.ToJsonString() });
    });

    private static void Enlarge(JsonNode node)
    {
        if (node is JsonObject fields)
        {
            foreach ((string name, JsonNode? value) in fields.ToArray())
            {
                if (s_longest.TryGetValue(name, out JsonNode? longest))
                {
                    fields[name] = longest.DeepClone();
                    continue;
                }

                if (name.EndsWith("Ms", StringComparison.Ordinal) || s_same.Contains(name, StringComparer.Ordinal))
                {
                    continue;
                }

                if (name == "samples" && value is JsonArray samples)
                {
                    foreach (JsonNode? sample in samples)
                    {
                        EnlargeAll((JsonArray)sample!, first: 1); // The first value is the time.
                    }
                }
                else if (value is JsonValue number && number.GetValueKind() == JsonValueKind.Number)
                {
                    fields[name] = Large(number, name.EndsWith("Ns", StringComparison.Ordinal) ? TimeFactor : Factor);
                }
                else if (value is not null)
                {
                    Enlarge(value);
                }
            }
        }
        else if (node is JsonArray items)
        {
            EnlargeAll(items, first: 0);
        }
    }

    private static void EnlargeAll(JsonArray items, int first)
    {
        for (int i = first; i < items.Count; i++)
        {
            if (items[i] is JsonValue number && number.GetValueKind() == JsonValueKind.Number)
            {
                items[i] = Large(number, Factor);
            }
            else if (items[i] is { } item)
            {
                Enlarge(item);
            }
        }
    }

    private static JsonNode Large(JsonValue number, long factor) => Math.Min(long.MaxValue / 1024, (long)(number.GetValue<double>() * factor));
}
