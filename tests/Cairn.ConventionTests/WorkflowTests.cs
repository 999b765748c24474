using System.Text.RegularExpressions;
using YamlDotNet.RepresentationModel;

namespace Cairn.ConventionTests;

/// <summary>The workflow file of GitHub Actions, which cannot run here: it is YAML, has the form of a workflow, and names what is there.</summary>
public sealed partial class WorkflowTests
{
    private static readonly YamlMappingNode Workflow = Read(File.ReadAllText(Repository.At(".github/workflows/build.yml")));

    [Fact]
    public void Each_job_has_a_runner_a_time_limit_and_steps_that_do_one_thing()
    {
        Assert.NotEmpty(Jobs());
        Assert.All(Jobs(), job =>
        {
            Assert.NotEmpty(RunnersOf(job));
            Assert.InRange(int.Parse(job["timeout-minutes"].ToString()), 1, 120);
            Assert.All(StepsOf(job), step => Assert.True(Has(step, "uses") ^ Has(step, "run"), $"{step}"));
        });
    }

    [Fact]
    public void Jobs_run_on_each_system_and_architecture_that_the_platforms_page_names()
    {
        var runners = Jobs().SelectMany(RunnersOf).Distinct().ToList();

        Assert.All(["^ubuntu-[0-9.]+$", "^ubuntu-[0-9.]+-arm$", "^windows-", "^macos-"], pattern => Assert.Contains(runners, runner => Regex.IsMatch(runner, pattern)));
    }

    [Fact]
    public void Actions_have_a_version_and_commands_name_files_tests_and_parts_that_exist()
    {
        var steps = Jobs().SelectMany(StepsOf).ToList();
        var commands = steps.Where(step => Has(step, "run")).Select(step => step["run"].ToString()).ToList();
        var files = commands.SelectMany(command => FileOfRepository().Matches(command)).Select(match => match.Value).ToList();
        var classes = commands.Where(command => command.Contains("run-tests", StringComparison.Ordinal))
            .SelectMany(command => command[command.IndexOf("run-tests", StringComparison.Ordinal)..].Split(' ').Skip(1)).ToList();

        Assert.All(steps.Where(step => Has(step, "uses")), step => Assert.Matches(@"^actions/[a-z-]+@v\d+$", step["uses"].ToString()));
        Assert.NotEmpty(files);
        Assert.All(files, file => Assert.True(Path.Exists(Repository.At(file)), $"{file} does not exist"));
        Assert.NotEmpty(classes);
        Assert.All(classes, name => Assert.True(File.Exists(Repository.At($"tests/Cairn.Tests/{name.Replace('.', '/')}.cs")), $"{name} does not exist"));
    }

    [Fact]
    public void File_that_is_no_workflow_is_noticed()
    {
        Assert.ThrowsAny<YamlDotNet.Core.YamlException>(() => Read("jobs:\n  a: [\n"));
    }

    private static YamlMappingNode Read(string text)
    {
        var stream = new YamlStream();
        stream.Load(new StringReader(text));
        return (YamlMappingNode)stream.Documents.Single().RootNode;
    }

    private static List<YamlMappingNode> Jobs() => [.. ((YamlMappingNode)Workflow["jobs"]).Children.Values.Cast<YamlMappingNode>()];

    private static IEnumerable<YamlMappingNode> StepsOf(YamlMappingNode job) => ((YamlSequenceNode)job["steps"]).Cast<YamlMappingNode>();

    private static IEnumerable<string> RunnersOf(YamlMappingNode job) =>
        job["runs-on"].ToString() is var runner && runner == "${{ matrix.os }}"
            ? ((YamlSequenceNode)job["strategy"]["matrix"]["os"]).Select(os => os.ToString())
            : [runner];

    private static bool Has(YamlMappingNode node, string key) => node.Children.ContainsKey(new YamlScalarNode(key));

    [GeneratedRegex(@"(?<=^|\s)(\./test|release/build|Cairn\.slnx|tests/[\w.]+)(?=\s|$)")]
    private static partial Regex FileOfRepository();
}
