using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using Cairn.Server.Exposition;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Metrics;

/// <summary>The files in deploy for Prometheus and Grafana, checked by Prometheus and against the metrics that a server has.</summary>
public sealed partial class MonitoringTests
{
    // Metrics that no panel shows, each with the reason.
    private static readonly Dictionary<string, string> s_notShown = new(StringComparer.Ordinal)
    {
        ["cairn_build_info"] = "its value is always 1",
        ["cairn_store_segment_size_bytes"] = "it never changes",
        ["cairn_store_index_slots"] = "it changes only when the file is created",
        ["cairn_store_partitions"] = "it never changes",
        ["cairn_store_openings"] = "it is 1 on a server of its own",
        ["cairn_store_reads_total"] = "the hit ratio of reads is made of cairn_lookups_total, which knows the protocol",
    };

    [RequiresToolFact("promtool")]
    public async Task Alert_rules_do_what_their_tests_say()
    {
        (int exitCode, string output, string errors) = await new ClientProgram("promtool", "test", "rules", Deployed("cairn.rules.test.yml")).RunToAnyEndAsync();

        Assert.True(exitCode == 0 && output.Contains("SUCCESS", StringComparison.Ordinal), output + errors);
    }

    [Fact]
    public void Each_alert_rule_has_a_test_that_raises_it_and_one_that_does_not()
    {
        string tests = File.ReadAllText(Deployed("cairn.rules.test.yml"));

        Assert.All(AlertNames(), name =>
        {
            Assert.Contains($"\"{name} is raised\"", tests, StringComparison.Ordinal);
            Assert.Contains($"\"{name} is silent\"", tests, StringComparison.Ordinal);
        });
    }

    [Fact]
    public void Alert_rules_and_their_tests_use_only_metrics_and_labels_that_a_server_has()
    {
        AssertKnown(File.ReadAllText(Deployed("cairn.rules.yml")));
        AssertKnown(File.ReadAllText(Deployed("cairn.rules.test.yml")));
    }

    [Fact]
    public void Monitoring_guide_lists_each_alert()
    {
        string guide = File.ReadAllText(RepositoryFile.At("docs", "how-to", "monitoring.md"));

        Assert.All(AlertNames(), name => Assert.Contains($"| `{name}` |", guide, StringComparison.Ordinal));
    }

    [Fact]
    public void Dashboard_is_the_one_that_is_generated_here()
    {
        string path = RepositoryFile.At("deploy", "grafana", "cairn.json");
        string generated = GrafanaDashboard.ToJson();
        if (Environment.GetEnvironmentVariable("CAIRN_GRAFANA") == "write")
        {
            File.WriteAllText(path, generated);
        }

        Assert.True(File.ReadAllText(path) == generated, "The dashboard changed. CAIRN_GRAFANA=write with this test writes it again.");
    }

    [Fact]
    public void Dashboard_shows_every_metric_and_no_other()
    {
        string queries = string.Join('\n', Queries());

        AssertKnown(queries);
        Assert.Equal(
            s_notShown.Keys.Order(StringComparer.Ordinal),
            MetricTable.All.Select(family => family.PrometheusName)
                .Where(name => !Regex.IsMatch(queries, $@"\b{name}(_bucket)?\b"))
                .Order(StringComparer.Ordinal));
    }

    [RequiresToolFact("promtool")]
    public async Task Prometheus_understands_every_query_of_the_dashboard()
    {
        using var directory = new TestDirectory();
        string rules = Path.Combine(directory.Path, "queries.yml");
        await File.WriteAllLinesAsync(rules,
        [
            "groups:", "- name: dashboard", "  rules:",
            .. Queries().SelectMany((query, i) => (string[])[$"  - record: q{i}", $"    expr: '{WithoutVariables(query)}'"]),
        ]);

        (int exitCode, string output, string errors) = await new ClientProgram("promtool", "check", "rules", rules).RunToAnyEndAsync();

        Assert.True(exitCode == 0, output + errors);
    }

    // Prometheus' own server, with the configuration of the repository; only the address and the interval are changed.
    [RequiresToolFact("prometheus")]
    public async Task Prometheus_reads_a_server_with_the_configuration_of_the_repository()
    {
        using var directory = new TestDirectory();
        await using ServedMetrics server = await ServedMetrics.StartAsync();
        string address = server.Server.Addresses.First(address => address.Key == "http").Value;
        string configuration = (await File.ReadAllTextAsync(Deployed("prometheus.yml")))
            .Replace("127.0.0.1:8080", address, StringComparison.Ordinal)
            .Replace("15s", "1s", StringComparison.Ordinal);
        await File.WriteAllTextAsync(Path.Combine(directory.Path, "prometheus.yml"), configuration);
        File.Copy(Deployed("cairn.rules.yml"), Path.Combine(directory.Path, "cairn.rules.yml"));
        using TestClient client = server.Connect("memcached");
        client.Send("get none\r\n");
        Assert.Equal("END\r", client.ReadLine());
        string web = string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{FreePorts.Take()}");

        using ServerProgram prometheus = ServerProgram.Start(
            "prometheus",
            [$"--config.file={directory.Path}/prometheus.yml", $"--storage.tsdb.path={directory.Path}/data", $"--web.listen-address={web}"],
            "Server is ready to receive web requests",
            isOnError: true);
        using var http = new HttpClient { BaseAddress = new Uri($"http://{web}") };

        await Eventually.EqualAsync("1", () => ValueOfAsync(http, "cairn_lookups_total{job=\"cairn\", family=\"get\", protocol=\"memcached\", result=\"miss\"}"));
        using JsonDocument rules = JsonDocument.Parse(await http.GetStringAsync(new Uri("/api/v1/rules", UriKind.Relative)));

        JsonElement[] loaded = [.. rules.RootElement.GetProperty("data").GetProperty("groups")[0].GetProperty("rules").EnumerateArray()];
        Assert.Equal(AlertNames(), loaded.Select(rule => rule.GetProperty("name").GetString()!));
        Assert.All(loaded, rule => Assert.NotEqual("err", rule.GetProperty("health").GetString()));
    }

    private static async Task<string?> ValueOfAsync(HttpClient http, string query)
    {
        using JsonDocument answer = JsonDocument.Parse(await http.GetStringAsync(new Uri($"/api/v1/query?query={Uri.EscapeDataString(query)}", UriKind.Relative)));
        JsonElement result = answer.RootElement.GetProperty("data").GetProperty("result");
        return result.GetArrayLength() == 0 ? null : result[0].GetProperty("value")[1].GetString();
    }

    private static void AssertKnown(string text)
    {
        foreach (Match use in Use().Matches(text))
        {
            string name = use.Groups[1].Value;
            MetricFamily? family = MetricTable.All.FirstOrDefault(family => name == family.PrometheusName || (family.Kind == MetricKind.Histogram && name == $"{family.PrometheusName}_bucket"));
            Assert.True(family is not null, $"A server has no metric {name}.");
            string[] labels = [.. Label().Matches(use.Groups[2].Value).Select(label => label.Groups[1].Value)];
            string[] known = ["job", "instance", .. family.PrometheusName switch
            {
                "cairn_lookups_total" => (string[])["protocol", "family", "result"],
                "cairn_requests_total" => ["protocol", "family", "command", "result"],
                "cairn_request_duration_seconds" => ["protocol", "family", "le"],
                "cairn_request_work_seconds_total" => ["protocol", "family"],
                _ => [],
            }];
            Assert.All(labels, label => Assert.True(known.Contains(label), $"{name} has no label {label}."));
        }
    }

    private static IEnumerable<string> Queries() =>
        GrafanaDashboard.Rows.SelectMany(row => row.Panels).SelectMany(panel => panel.Queries).Select(query => query.Query);

    private static string WithoutVariables(string query) => query
        .Replace("$__rate_interval", "5m", StringComparison.Ordinal)
        .Replace("$job", "cairn", StringComparison.Ordinal)
        .Replace("$instance", ".*", StringComparison.Ordinal);

    private static string[] AlertNames() =>
        [.. Alert().Matches(File.ReadAllText(Deployed("cairn.rules.yml"))).Select(alert => alert.Groups[1].Value)];

    private static string Deployed(string name) => RepositoryFile.At("deploy", "prometheus", name);

    [GeneratedRegex(@"- alert: (\w+)")]
    private static partial Regex Alert();

    // A metric's name, and its labels if there are some.
    [GeneratedRegex(@"\b((?:cairn|process)_[a-z_]+)(?:\{([^}]*)\})?")]
    private static partial Regex Use();

    [GeneratedRegex(@"(\w+)\s*[!=]")]
    private static partial Regex Label();
}
