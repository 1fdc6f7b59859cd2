"""How pictures come: by the stream where there is one, else by asking; and how silence is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from roost.tui.feed import Away, Feed, Fresh, News
from roost.tui.source import SourceAwayError
from tests.tui.story import NOON, Story, StorySource


class StreamSource(StorySource):
    """A source with a stream that a test feeds; a broken one says that the daemon went."""

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self.more = threading.Event()
        self.broken = False
        self.closed = False

    def events(self) -> Iterator[tuple[str, Mapping[str, object]]]:
        while not self.closed:
            if not self.more.wait(0.01):
                continue
            self.more.clear()
            if self.broken:
                raise SourceAwayError("the daemon went away")
            yield "status", self.story.status()
            yield "unheard-of", {}

    def close(self) -> None:
        self.closed = True


@contextmanager
def feeding(source: StorySource, silent_s: float = 60.0) -> Iterator[list[News]]:
    news: list[News] = []
    feed = Feed(source, news.append, period_s=0.02, silent_s=silent_s)
    feed.start()
    try:
        yield news
    finally:
        feed.stop()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_without_a_stream_it_asks_again_and_again() -> None:
    with feeding(StorySource(Story(2))) as news:
        until(lambda: len(news) >= 3)
        assert all(isinstance(item, Fresh) for item in news)


def test_a_stream_is_followed_and_nothing_is_asked_meanwhile() -> None:
    source = StreamSource(Story(2))
    with feeding(source) as news:
        until(lambda: len(news) == 1)
        time.sleep(0.05)
        asked = source.asked
        source.story.now = NOON + 9
        source.more.set()
        until(lambda: isinstance(news[-1], Fresh) and news[-1].picture.at == NOON + 9)
        assert source.asked == asked


def test_a_stream_that_breaks_is_taken_up_again() -> None:
    source = StreamSource(Story(2))
    with feeding(source) as news:
        until(lambda: len(news) == 1)
        source.broken = True
        source.more.set()
        until(lambda: isinstance(news[-1], Away))
        assert news[-1].text == "the daemon went away"  # type: ignore[union-attr]
        source.broken = False
        until(lambda: isinstance(news[-1], Fresh))


def test_a_daemon_that_hangs_with_its_stream_open_is_found_out() -> None:
    source = StreamSource(Story(2))
    with feeding(source, silent_s=0.1) as news:
        until(lambda: len(news) == 1)
        time.sleep(0.3)
        assert all(isinstance(item, Fresh) for item in news), "silence alone is not being away"
        source.away = True
        until(lambda: isinstance(news[-1], Away))
        source.away = False
        until(lambda: isinstance(news[-1], Fresh))


def test_after_the_end_nothing_more_is_delivered() -> None:
    source = StorySource(Story(2))
    with feeding(source) as news:
        until(lambda: len(news) >= 1)
    time.sleep(0.1)
    count = len(news)
    time.sleep(0.1)
    assert len(news) == count
