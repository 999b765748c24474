namespace Cairn.DocumentTests.Samples;

/// <summary>Provides a new working directory for the files that samples name, and captures their console output.</summary>
public abstract class SampleTest : IDisposable
{
    private static readonly TextWriter Before = Console.Out;

    private readonly TestDirectory _directory = new();
    private readonly string _before = Directory.GetCurrentDirectory();
    private readonly StringWriter _output = new();

    protected SampleTest()
    {
        Directory.SetCurrentDirectory(_directory.Path);
        Console.SetOut(_output);
    }

    protected string Output => _output.ToString();

    public void Dispose()
    {
        Console.SetOut(Before);
        Directory.SetCurrentDirectory(_before);
        _output.Dispose();
        _directory.Dispose();
        GC.SuppressFinalize(this);
    }
}
