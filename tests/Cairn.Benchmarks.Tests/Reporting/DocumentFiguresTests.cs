using Cairn.Benchmarks.Reporting;

namespace Cairn.Benchmarks.Tests.Reporting;

public sealed class DocumentFiguresTests
{
    [Fact]
    public void Charts_and_tables_of_the_documents_are_those_that_the_command_writes()
    {
        (string Path, string Text)[] files = [.. DocumentFigures.Create(BenchmarkCommand.RepositoryRoot())];

        Assert.True(files.Length >= 3);
        Assert.All(files, file => Assert.True(
            File.Exists(file.Path) && File.ReadAllText(file.Path) == file.Text, $"{file.Path} differs from bench/results. Run bench/run chart."));
    }
}
